import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { BSON, type Document } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';

import type { LocalOptions } from '../../../src/local/servers/local-options.ts';
import { startMongoServer } from '../../../src/local/servers/mongodb-server.ts';
import { scratchOptions } from './scratch.ts';
import { loadsTypeScript } from '../../support/typescript.ts';

async function programRunning(options: LocalOptions, script: string) {
  const path = join(options.dataDir, 'mongod');
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { kind: 'mongod', path } as const;
}

it('a mongod gets one address and makes no socket file, which another user may have left', async () => {
  const options = await scratchOptions();
  const program = await programRunning(options, 'echo "$@"; exit 1');
  const starting = startMongoServer({ ...options, program, port: 'any' });
  await expect(starting).rejects.toThrow(/--bind_ip 127\.0\.0\.1 --port \d+ .*--nounixsocket$/u);
});

it('a mongod becomes a replica set of one, and stays that set on another port', async () => {
  const options = await scratchOptions();
  const member = fileURLToPath(new URL('./programs/replica-set-member.ts', import.meta.url));
  const program = await programRunning(
    options,
    `exec '${process.execPath}' ${loadsTypeScript.join(' ')} '${member}' "$@"`,
  );
  const start = async () => {
    const server = await startMongoServer({ ...options, program, port: 'any' });
    onTestFinished(() => server.stop());
    const config: Document = BSON.deserialize(await readFile(join(options.dataDir, 'mongodb/config.bson')));
    return { server, host: new URL(server.uri).host, config };
  };
  const first = await start();
  expect(first.config).toMatchObject({ _id: 'mediary', version: 1, members: [{ _id: 0, host: first.host }] });
  await first.server.stop();
  const second = await start();
  expect(second.host).not.toBe(first.host);
  expect(second.config).toMatchObject({ _id: 'mediary', members: [{ _id: 0, host: second.host }] });
  expect(second.config['version']).toBeGreaterThan(1);
  expect(second.config['settings']).toEqual(first.config['settings']);
});
