import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemCodeOf } from '../base/caught.ts';
import type { LedgerConfig } from '../config/settings-schema.ts';
import type { Outbound } from '../http-client/index.ts';
import type { HeadsPlace, OpenHeadsPlace } from '../ledger/outside-heads.ts';
import type { Core } from './core.ts';

type Settings = LedgerConfig['heads'];
type Deliver = Outbound['notices']['deliver'];

/** Returns a function that opens the place specified in the running configuration. */
export function headsPlaceOf({ config, outbound }: Pick<Core, 'config' | 'outbound'>): OpenHeadsPlace {
  return () => openHeadsPlace(config().ledger.heads, outbound.notices.deliver);
}

/** Returns undefined if the configuration does not export heads. */
export async function openHeadsPlace(settings: Settings, deliver: Deliver): Promise<HeadsPlace | undefined> {
  if (settings?.directory !== undefined) return directoryPlace(settings.directory);
  if (settings?.s3 !== undefined) return bucketPlace(settings.s3);
  return settings?.url === undefined ? undefined : webhookPlace(settings.url, settings.token, deliver);
}

function nameOf(day: string): string {
  return `ledger-heads-${day}.jsonl`;
}

function directoryPlace(directory: string): HeadsPlace {
  const pathOf = (day: string) => join(directory, nameOf(day));
  return {
    async write(day, heads) {
      await mkdir(directory, { recursive: true });
      const part = `${pathOf(day)}.${randomUUID()}.part`;
      try {
        await pipeline(heads, createWriteStream(part, { flush: true, mode: 0o640 }));
        // Unlike a rename, a link fails if the day's file exists, so it never replaces a file.
        await link(part, pathOf(day)).catch((error: unknown) => {
          if (systemCodeOf(error) !== 'EEXIST') throw error;
        });
      } finally {
        await rm(part, { force: true });
      }
    },
    async read(day) {
      try {
        await stat(pathOf(day));
      } catch (error) {
        if (systemCodeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
      return createReadStream(pathOf(day));
    },
    close: () => undefined,
  };
}

async function bucketPlace(settings: NonNullable<NonNullable<Settings>['s3']>): Promise<HeadsPlace> {
  // Loaded here because the library is large and most processes never need it.
  const { createS3Storage } = await import('../results/s3-storage.ts');
  const storage = createS3Storage({ ...settings, links: 'gateway' });
  return {
    async write(day, heads) {
      // Check first, because some servers do not support conditional writes.
      if ((await storage.stat(nameOf(day))) !== undefined) return;
      await storage.writeNew(nameOf(day), heads, { mediaType: 'application/jsonl' });
    },
    async read(day) {
      const file = await storage.stat(nameOf(day));
      if (file === undefined || file.bytes === 0) return undefined;
      return storage.read(nameOf(day), { start: 0, end: file.bytes - 1 });
    },
    close: () => storage.close(),
  };
}

const webhookTimeoutMs = 30_000;
const webhookBytesMax = 1024 * 1024;

/** Posts JSON lines, split into several requests if necessary. Another process may also post the same day's heads. */
function webhookPlace(url: string, token: string | undefined, deliver: Deliver): HeadsPlace {
  return {
    async write(day, heads) {
      let lines: Uint8Array[] = [];
      let bytes = 0;
      let part = 0;
      const post = async (): Promise<void> => {
        part += 1;
        const headers = {
          'content-type': 'application/jsonl',
          'x-ledger-day': day,
          'x-ledger-part': String(part),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        };
        const body = Buffer.concat(lines).toString('utf8');
        const { status } = await deliver({ url, headers, body, timeoutMs: webhookTimeoutMs });
        if (status < 200 || status > 299) throw new Error(`the receiver of ledger heads answered ${status}`);
        [lines, bytes] = [[], 0];
      };
      for await (const line of heads) {
        lines.push(line);
        bytes += line.length;
        if (bytes >= webhookBytesMax) await post();
      }
      if (bytes > 0) await post();
    },
    close: () => undefined,
  };
}
