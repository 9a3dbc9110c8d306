import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemCodeOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import type { LedgerConfig } from '../config/settings-schema.ts';
import type { Outbound } from '../http-client/index.ts';
import type { HeadsPlace, OpenHeadsPlace } from '../ledger/outside-heads.ts';
import { findFile } from '../results/directory-storage.ts';
import { limitFiles, storageLimits, type Files, type StorageLimits } from '../results/time-limits.ts';
import type { Core } from './core.ts';

type Settings = LedgerConfig['heads'];
type Deliver = Outbound['notices']['deliver'];

export function headsPlaceOf({ config, outbound }: Pick<Core, 'config' | 'outbound'>): OpenHeadsPlace {
  return () => openHeadsPlace(config().ledger.heads, outbound.notices.deliver);
}

export async function openHeadsPlace(
  settings: Settings,
  deliver: Deliver,
  limits = storageLimits,
): Promise<HeadsPlace | undefined> {
  if (settings?.directory !== undefined) return filesPlace(directoryFiles(settings.directory), limits);
  if (settings?.s3 !== undefined) return filesPlace(await bucketFiles(settings.s3), limits);
  return settings?.url === undefined ? undefined : webhookPlace(settings.url, settings.token, deliver);
}

interface NewFiles extends Files {
  /** Never replaces a file, even if another process is writing it at the same time. */
  readonly write: Files['write'];
  readonly close: () => void;
}

function filesPlace(files: NewFiles, limits: StorageLimits): HeadsPlace {
  const { write, stat, read } = limitFiles(files, limits);
  const nameOf = (day: string) => `ledger-heads-${day}.jsonl`;
  return {
    async write(day, heads) {
      // Check first, because some buckets do not support conditional writes.
      if ((await stat(nameOf(day))) !== undefined) return;
      await write(nameOf(day), heads, { mediaType: 'application/jsonl' });
    },
    async read(day) {
      const file = await stat(nameOf(day));
      if (file === undefined || file.bytes === 0) return undefined;
      return read(nameOf(day), { start: 0, end: file.bytes - 1 });
    },
    close: files.close,
  };
}

function directoryFiles(directory: string): NewFiles {
  return {
    async write(name, heads, { signal }) {
      await mkdir(directory, { recursive: true });
      const path = join(directory, name);
      const part = `${path}.${randomUUID()}.part`;
      try {
        await pipeline(heads, createWriteStream(part, { flush: true, mode: 0o640 }), defined({ signal }));
        // Create a hard link, which fails if the day's file exists. A rename would replace the file.
        await link(part, path).catch((error: unknown) => {
          if (systemCodeOf(error) !== 'EEXIST') throw error;
        });
      } finally {
        await rm(part, { force: true });
      }
    },
    stat: (name) => findFile(join(directory, name)),
    read: (name, range) => Promise.resolve(createReadStream(join(directory, name), { ...range })),
    close: () => undefined,
  };
}

async function bucketFiles(settings: NonNullable<NonNullable<Settings>['s3']>): Promise<NewFiles> {
  // Loaded here because the library is large and most processes never need it.
  const { createS3Storage } = await import('../results/s3-storage.ts');
  return createS3Storage({ ...settings, links: 'gateway' }, { replaces: false });
}

const webhookTimeoutMs = 30_000;
const webhookBytesMax = 1024 * 1024;

/** Sends JSON lines, in several requests if necessary. Another process may also send the heads of the same day. */
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
        if (status < 200 || status > 299)
          throw new Error(`the receiver of ledger heads responded with ${status}`);
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
