import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openImageWorkspaces } from '../../../src/images/workspace.ts';
import { readClip } from '../../../workshop/simulator/media/clips.ts';
import { createGuardedClient } from '../../../src/http-client/guarded-client.ts';
import { openRequestMedia } from '../../../src/media/open-media.ts';
import type { Files } from '../../../src/media/files.ts';
import { createDirectoryStorage } from '../../../src/results/directory-storage.ts';
import { createMediaLinks } from '../../../src/results/media-links.ts';
import type { ResultStorage } from '../../../src/results/storage.ts';
import type { Answer, TestAccount } from '../../support/client.ts';
import { useHttpWorld, type HttpWorld, type Server } from '../../support/http-world.ts';

export const clip = readClip('16x9');

/** Each file may have up to 64 KiB, and each account 100,000 bytes in total. */
export interface FileWorld {
  readonly world: HttpWorld;
  readonly node: Server;
  readonly storage: ResultStorage;
  readonly files: Files;
  upload(account: TestAccount, parts: Readonly<Record<string, string | Blob>>): Promise<Answer>;
  store(account: TestAccount, filename?: string): Promise<string>;
}

export function useFileWorld(database: string): FileWorld {
  const world = useHttpWorld(database);
  const held: Partial<Pick<FileWorld, 'node' | 'storage' | 'files'>> = {};
  const undo: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), `${database}-`));
    const now = () => Date.now() + world.clock.aheadMs;
    const storage = createDirectoryStorage(directory);
    const links = createMediaLinks({
      key: randomBytes(32),
      publicUrl: 'http://gateway.test',
      ttlSeconds: 3_600,
      retentionSeconds: 86_400,
      now,
    });
    const client = createGuardedClient({ networks: ['127.0.0.0/8'] });
    const media = openRequestMedia({
      client,
      probeMs: 60_000,
      kept: { storage, links },
      files: {
        store: world.stores.files,
        bytesMax: 65_536,
        accountBytesMax: 100_000,
        retentionSeconds: 86_400,
        now,
        randomBytes,
      },
    });
    const workspaces = await openImageWorkspaces(now, directory);
    const { files, linkMedium } = media;
    if (files === undefined) throw new Error('nothing is stored');
    const node = await world.startNode({ storedFiles: { files, linkMedium, storage, workspaces } });
    Object.assign(held, { node, storage, files });
    undo.push(
      () => media.close(),
      () => client.close(),
      () => workspaces.close(),
      () => rm(directory, { recursive: true }),
    );
  });
  afterAll(async () => {
    for (const step of undo) await step();
  });

  async function upload(account: TestAccount, parts: Readonly<Record<string, string | Blob>>) {
    const form = new FormData();
    for (const [name, part] of Object.entries(parts)) {
      if (typeof part === 'string') form.append(name, part);
      else form.append(name, part, part instanceof File ? part.name : 'clip.mp4');
    }
    const encoded = new Response(form);
    return need(held.node).call('POST', '/v1/files', {
      key: account.key,
      headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
      body: Buffer.from(await encoded.arrayBuffer()),
    });
  }

  return {
    world,
    get node() {
      return need(held.node);
    },
    get storage() {
      return need(held.storage);
    },
    get files() {
      return need(held.files);
    },
    upload,
    async store(account, filename = 'boat.mp4') {
      const stored = await upload(account, { file: new File([clip], filename) });
      return String(stored.body.id);
    },
  };
}

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the node has not been started');
  return value;
}
