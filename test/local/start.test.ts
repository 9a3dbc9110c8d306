import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startSimulator, type Simulator } from '../../workshop/simulator/simulator.ts';
import { caller } from '../support/client.ts';
import { testYaml } from '../support/gateway.ts';
import { isAlive, pidsOf, startLocalMode, type LocalMode } from '../support/local-mode.ts';
import { startPortTaker } from '../support/port-taker.ts';
import { untilReady, waitUntil } from '../support/processes.ts';
import { databaseUri, temporalAddress } from '../support/run-servers.ts';

const laterMs = 5_000;

describe('npm start with a configuration of its own', () => {
  let directory: string;
  let simulator: Simulator;
  let file: string;
  const started: LocalMode[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-start-'));
    simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      apiKeys: ['simulated'],
      renderSeconds: 1,
    });
    file = join(directory, 'own.yaml');
    await writeFile(file, testYaml.replaceAll('${SIMULATOR_URL}', simulator.url));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((mode) => mode.interrupt()));
  });
  afterAll(async () => {
    await simulator.close();
    await rm(directory, { recursive: true, force: true });
  });

  const start = (environment: Record<string, string>, script: 'start' | 'demo' = 'start'): LocalMode => {
    const mode = startLocalMode({ script, environment });
    started.push(mode);
    return mode;
  };

  it('runs on external servers with given secrets, and keeps running', async () => {
    const port = await choosePort('any', 'a test');
    const url = `http://127.0.0.1:${port}`;
    const environment = {
      DATA_DIR: join(directory, 'given'),
      PORT: String(port),
      GATEWAY_CONFIG: file,
      MONGODB_URI: databaseUri('local_start'),
      TEMPORAL_ADDRESS: temporalAddress(),
      TASK_QUEUE_PREFIX: 'local-start-',
      ADMIN_TOKEN: 'a-token-of-the-operator-32-letters',
      SECRETS_KEY: randomBytes(32).toString('base64'),
    };
    const mode = start(environment);
    await mode.ready();
    // The API has waited for Temporal and for its worker, so its log contains no failed start.
    expect(await readFile(join(environment.DATA_DIR, 'logs', 'api.log'), 'utf8')).not.toContain('"stack"');
    expect(mode.output()).toContain(`The upstreams come from ${file}`);
    expect(mode.output()).toContain('Admin token   a-token-of-the-operator');
    const second = start(environment);
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/is in use by process \d+/);
    expect(second.output()).toContain(`Its gateway is at ${url}.`);
    await delay(laterMs);
    expect(mode.isRunning()).toBe(true);
    await untilReady(url);
    expect((await caller(url, environment.ADMIN_TOKEN)('GET', '/admin/v1/accounts/local')).status).toBe(200);

    const files = await readdir(environment.DATA_DIR, { recursive: true });
    expect(files).toEqual(expect.arrayContaining(['local.json', join('logs', 'api.log')]));
    for (const name of ['', ...files])
      expect([name, (await stat(join(environment.DATA_DIR, name))).mode & 0o077]).toEqual([name, 0]);

    const demo = start(environment, 'demo');
    expect(await demo.ended).toBe(0);
    expect(demo.output()).not.toContain('Mediary is ready');
    expect(demo.output()).toMatch(new RegExp(`created task_\\w+ on ${url}`));
    expect(demo.output()).toContain('held 0.762300 USD for the task');
    expect(demo.output()).toMatch(/callback arrived, signed: task_/);
    await waitUntil('the terminal shows the requests and the end of the task', () =>
      Promise.resolve(
        ['POST createVideo  200', 'GET getVideo  200', 'succeeded, charged 0.762300'].every((line) =>
          mode.output().includes(line),
        ),
      ),
    );
    const firstKey = /API key +(\S+)/.exec(mode.output())?.[1];
    const admin = caller(url, environment.ADMIN_TOKEN);
    const text = await readFile(file, 'utf8');
    await writeFile(file, `${text}\n# changed\n`);
    const changed = (await admin('POST', '/admin/v1/config/reload')).body;
    await mode.interrupt();
    await writeFile(file, text);

    const other = randomBytes(32).toString('base64');
    const refused = start({ ...environment, SECRETS_KEY: other });
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toMatch(/SECRETS_KEY: a sealed value needs the key [0-9a-f]{8}/);

    const again = start({ ...environment, SECRETS_KEY: `${other},${environment.SECRETS_KEY}` });
    await again.ready();
    const key = /API key +(\S+)/.exec(again.output())?.[1] ?? '';
    expect(key).toBe(firstKey);
    expect((await caller(url, key)('GET', '/v1/balance')).status).toBe(200);
    const { body: published } = await admin('GET', '/admin/v1/config');
    expect(published.version).toBe(changed.version + 1);
    expect(published.hash).not.toBe(changed.hash);
  }, 900_000);

  it('uses another port if its own is taken before it listens, and ends with npm, or for a demo with its reader', async () => {
    const taker = await startPortTaker();
    const environment = {
      DATA_DIR: join(directory, 'with-npm'),
      PORT: '0',
      NODE_OPTIONS: taker.nodeOptions,
      GATEWAY_CONFIG: file,
      MONGODB_URI: databaseUri('local_start_npm'),
      TEMPORAL_ADDRESS: temporalAddress(),
      TASK_QUEUE_PREFIX: 'local-start-npm-',
    };
    const mode = startLocalMode({ npm: true, environment });
    let pids: number[] = [];
    try {
      await mode.ready();
      const [taken] = taker.taken;
      const log = await readFile(join(environment.DATA_DIR, 'logs', 'api.log'), 'utf8');
      expect(log).toContain(`PORT: ${taken} on 127.0.0.1 is in use`);
      const url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(mode.output())?.[1] ?? '';
      expect(new URL(url).port).not.toBe(String(taken));
      await untilReady(url);
      pids = await pidsOf(environment.DATA_DIR);
      expect(pids).toHaveLength(3);
      expect(pids.filter(isAlive)).toEqual(pids);

      const demo = promisify(execFile)('sh', ['-c', 'npm run --silent demo | head -n 1'], {
        env: { PATH: process.env['PATH'], ...environment },
      });
      expect(await demo).toEqual({
        stdout: expect.stringMatching(/^.* s {2}balance .*\n$/),
        stderr: 'The demo is starting…\n',
      });
    } finally {
      await mode.terminate();
    }
    await waitUntil('all have ended', () => Promise.resolve(!pids.some(isAlive)));
    expect(mode.output()).toContain('stopping everything that was started here');
  }, 900_000);

  it('rejects a bad file before anything starts, and explains how to return to the simulator', async () => {
    const bad = join(directory, 'bad.yaml');
    await writeFile(
      bad,
      testYaml
        .replace('${SIMULATOR_URL}', '${NO_SUCH_URL}')
        .replace('api_key: simulated', 'api_key: "${NO_SUCH_KEY}-${NO_SUCH_KEY}"'),
    );
    const dataDir = join(directory, 'untouched');
    const mode = start({ DATA_DIR: dataDir, GATEWAY_CONFIG: bad });
    expect(await mode.ended).toBe(78);
    for (const name of ['NO_SUCH_URL', 'NO_SUCH_KEY']) {
      expect(mode.output().split(name)).toHaveLength(2);
    }
    expect(mode.output()).toContain('To return to the simulator, unset GATEWAY_CONFIG');
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });

  it('rejects a PORT that is taken before anything is downloaded', async () => {
    const dataDir = join(directory, 'port-taken');
    const { port } = new URL(simulator.url);
    const mode = start({ DATA_DIR: dataDir, PORT: port, GATEWAY_CONFIG: file });
    expect(await mode.ended).toBe(1);
    expect(mode.output()).toContain(`Port ${port} for the API (PORT) is in use: free it or choose another.`);
    expect(mode.output()).not.toMatch(/MongoDB|Temporal/);
  });
});
