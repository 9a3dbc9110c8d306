import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageYaml, pixel } from '../images/support.ts';
import { adminCaller, makeAccount, type TestAccount } from './client.ts';
import type { Probe } from './event-loop-probe.ts';
import { testEnvironment } from './gateway.ts';
import { listen } from './listen.ts';
import { beginProbe } from './read-probe.ts';
import { loadsTypeScript } from './typescript.ts';

export interface HostileApi {
  readonly url: string;
  account(): Promise<TestAccount>;
  measure(action: () => Promise<unknown>): Promise<Probe>;
  isAlive(): boolean;
  close(): Promise<void>;
}

const heapMegabytes = 640;
const adminToken = 'the-operators-token-of-this-test-file';

export async function startHostileApi(name: string): Promise<HostileApi> {
  const upstream = createServer((received, response) => {
    const data = [{ b64_json: pixel.toString('base64') }];
    received.resume().on('end', () => response.end(JSON.stringify({ created: 1, data })));
  });
  const { url: first, close: closeUpstream } = await listen(upstream);
  const directory = await mkdtemp(join(tmpdir(), 'mediary-hostile-'));
  const config = join(directory, 'gateway.yaml');
  await writeFile(config, imageYaml({ first: `${first}/v1` }));
  const file = join(directory, 'probe.json');
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${heapMegabytes}`,
      '--expose-gc',
      ...loadsTypeScript,
      '--import',
      './test/support/event-loop-probe.ts',
      'test/images/api-process.ts',
    ],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        PATH: process.env['PATH'],
        PROBE_FILE: file,
        TMPDIR: directory,
        ...(await testEnvironment(name, { GATEWAY_CONFIG: config, ADMIN_TOKEN: adminToken })),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    url,
    account: () => makeAccount({ url, admin: adminCaller(url, adminToken), video: {} }),
    async measure(action) {
      const read = await beginProbe({ pid: child.pid ?? 0, file, hasExited: () => !isAlive() });
      await action();
      return read();
    },
    isAlive,
    async close() {
      child.kill('SIGKILL');
      await closeUpstream();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
