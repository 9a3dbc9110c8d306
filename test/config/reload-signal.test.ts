import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { onReloadSignal, watchReloadSignal } from '../../src/config/reload-signal.ts';
import { testYaml } from '../support/test-yaml.ts';
import { loadsTypeScript } from '../support/typescript.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

describe('SIGHUP', () => {
  it('during the start is handled once there is something to reload, and each later one at once', () => {
    let reloads = 0;
    watchReloadSignal();
    process.emit('SIGHUP');
    process.emit('SIGHUP');
    const stop = onReloadSignal(() => (reloads += 1));
    expect(reloads).toBe(1);
    process.emit('SIGHUP');
    expect(reloads).toBe(2);
    stop();
    process.emit('SIGHUP');
    expect(reloads).toBe(2);
  });

  it.each(['API', 'worker'])('does not end the %s that waits for MongoDB', async (role) => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-reload-'));
    const config = join(directory, 'gateway.yaml');
    await writeFile(config, testYaml);
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const child = spawn(process.execPath, [...loadsTypeScript, 'src/cli.ts', role.toLowerCase()], {
      cwd: project,
      env: {
        PATH: process.env['PATH'],
        GATEWAY_CONFIG: config,
        SIMULATOR_URL: 'http://127.0.0.1:9',
        MONGODB_URI: `mongodb://127.0.0.1:${port}/reload?directConnection=true`,
        TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
        SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
        ADMIN_TOKEN: 'an-operator-of-the-reload-signal-test',
      },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    await Promise.race([once(server, 'connection'), exited]);
    child.kill('SIGHUP');
    await delay(500);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    server.close();
    await rm(directory, { recursive: true, force: true });
  });
});
