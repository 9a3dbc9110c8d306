import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { messageOf } from '../../src/base/caught.ts';
import { openCore } from '../../src/compose/core.ts';
import { checkListening } from '../../src/config/check-listening.ts';
import { openConfigFile } from '../../src/config/config-file.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { createLogger } from '../../src/observability/log.ts';
import { testYaml } from '../support/test-yaml.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
let directory: string;
let mongo: Server;
let connections = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-mistakes-'));
  await writeFile(join(directory, 'gateway.yaml'), testYaml);
  mongo = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(mongo, 'listening');
});
afterAll(async () => {
  mongo.close();
  await rm(directory, { recursive: true, force: true });
});

const listed = 'must be comma-separated CIDRs or host names, such as 10.0.0.0/8 or *.svc.cluster.local';

it.each([
  ['WEBHOOK_ALLOW_PRIVATE_NETWORKS', '10.0.0.0/99', listed],
  ['MEDIA_ALLOW_PRIVATE_NETWORKS', 'a..b', listed],
  ['MEDIA_ALLOW_PRIVATE_NETWORKS', '10.0.0.5', listed],
  ['TRUSTED_PROXIES', '999.1.1.1/8', 'must be comma-separated CIDRs, such as 10.0.0.0/8'],
  ['TRUSTED_PROXIES', '10.0.0.0/8,10/8', 'must be comma-separated CIDRs, such as 10.0.0.0/8'],
  ['PORT', 'abc', 'must be a port: 0 to 65535'],
  ['METRICS_PORT', '65536', 'must be a port: 0 to 65535'],
  ['IMAGE_FILES_MAX', 'many', 'must be a number'],
  [
    'PUBLIC_URL',
    'https://x.example/a?b=c',
    'must not contain a query or a fragment, because paths are appended to it',
  ],
  [
    'PUBLIC_URL',
    'https://x.example/a#d',
    'must not contain a query or a fragment, because paths are appended to it',
  ],
  ['PUBLIC_URL', 'https://u:p@x.example', 'must not contain credentials, because it is shown in links'],
])('%s=%s', (name, value, sentence) => {
  expect(() => readEnvironment({ [name]: value })).toThrow(
    `The environment has 1 problem(s):\n  ${name}: ${sentence}`,
  );
});

it('valid values stay valid', () => {
  const right = {
    TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8',
    PORT: '0',
    PUBLIC_URL: 'https://x.example/gateway/',
  };
  expect(readEnvironment(right)).toMatchObject({
    TRUSTED_PROXIES: ['10.0.0.0/8', 'fd00::/8'],
    PORT: 0,
    PUBLIC_URL: 'https://x.example/gateway',
  });
});

const models = 'models: [{ id: m, kind: video, price: { lines: [{ measure: call, price: "1" }] } }]';

it.each([
  ['', 'must have currency, channels and models: it is empty'],
  ['- a list', 'must have currency, channels and models: it is not a mapping'],
  [`currency: USD\nchannels: []\n${models}`, 'channels: must have an entry'],
])('a file of %j', async (content, sentence) => {
  const path = join(directory, 'other.yaml');
  await writeFile(path, content);
  expect(() => openConfigFile(path, { environment: {}, providerNames: [] })).toThrow(
    `${path} has 1 problem(s):\n  ${sentence}`,
  );
});

const portOf = (server: Server): string => String((server.address() as AddressInfo).port);

const environment = (mistake: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  GATEWAY_CONFIG: join(directory, 'gateway.yaml'),
  SIMULATOR_URL: 'http://127.0.0.1:9',
  MONGODB_URI: `mongodb://127.0.0.1:${portOf(mongo)}/?directConnection=true`,
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  PORT: '0',
  ...mistake,
});
const oneProblem = /^The environment has 1 problem\(s\):\n {2}.+\n?$/;

it.each<[string, () => NodeJS.ProcessEnv, string]>([
  [
    'an address of MongoDB without a host',
    () => ({ MONGODB_URI: 'mongodb://' }),
    'MONGODB_URI: Protocol and',
  ],
  [
    'an unknown option in it',
    () => ({ MONGODB_URI: `mongodb://u:secret@127.0.0.1/?colour=red` }),
    'MONGODB_URI: option colour is not supported',
  ],
  [
    'a certificate that is not there',
    () => ({ TEMPORAL_TLS_CERT: '/nope', TEMPORAL_TLS_KEY: join(directory, 'gateway.yaml') }),
    'TEMPORAL_TLS_CERT: /nope cannot be read (ENOENT)',
  ],
  [
    'one port for two',
    () => ({ PORT: '18081', METRICS_PORT: '18081' }),
    'METRICS_PORT: 18081 is already the port of the API',
  ],
  ['a port in use', () => ({ PORT: portOf(mongo) }), `on 127.0.0.1 is in use (EADDRINUSE)`],
  ['another one in use', () => ({ METRICS_PORT: portOf(mongo) }), 'METRICS_PORT: '],
  [
    'a host without an address',
    () => ({ HOST: 'no.such.invalid' }),
    'HOST: no.such.invalid is not one of this machine’s addresses',
  ],
  [
    'the address of another machine',
    () => ({ HOST: '192.0.2.1' }),
    'HOST: 192.0.2.1 is not one of this machine’s addresses',
  ],
])('%s is one sentence before anything is opened', async (_, mistake, sentence) => {
  connections = 0;
  const said: unknown = await opening(environment(mistake())).catch(messageOf);
  expect(said).toMatch(oneProblem);
  expect(said).toContain(sentence);
  expect(said).not.toContain('secret');
  expect(connections).toBe(0);
});

async function opening(variables: NodeJS.ProcessEnv): Promise<unknown> {
  const parsed = readEnvironment(variables);
  await checkListening(parsed, ['PORT', 'METRICS_PORT']);
  return openCore(parsed, createLogger({ level: 'silent', format: 'json' }), { variables });
}

it('a start that is refused ends with 78, and prints no more than that', async () => {
  connections = 0;
  const child = spawn(process.execPath, ['src/gateway.js', 'api'], {
    cwd: project,
    env: environment({ PORT: portOf(mongo) }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(said).toMatch(oneProblem);
  expect([status, connections]).toEqual([78, 0]);
});
