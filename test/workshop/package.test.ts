import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { listen, listener } from '../support/listen.ts';
import { databaseUri, temporalAddress } from '../support/run-servers.ts';
import { loadsTypeScript } from '../support/typescript.ts';

/** Publishes the output of `npm run package` with the steps of a release, and installs it as a user would. */

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const bytesMax = 5_000_000;
const address = 'https://code.example/team/mediary';
let directory: string;
let tarball: string;

function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH = '', HOME, ...rest } = process.env;
  // npm needs these variables to reach its registry.
  const network = /^npm_config_|^(?:HTTPS?|NO)_PROXY$|^NODE_EXTRA_CA_CERTS$/i;
  const npm = Object.entries(rest).filter(([name]) => network.test(name));
  return {
    ...Object.fromEntries(npm),
    HOME,
    PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    ...more,
  };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-package-test-'));
  const command = [...loadsTypeScript, 'workshop/package.ts', '--destination', directory];
  const release = { GITHUB_SERVER_URL: 'https://code.example', GITHUB_REPOSITORY: 'team/mediary' };
  const { stdout } = await run(process.execPath, command, { cwd: root, env: environment(release) });
  tarball = stdout.trim();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it('is at most 5 MB, and contains only what its users need', async () => {
  expect((await stat(tarball)).size).toBeLessThan(bytesMax);
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const files = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^package\//, ''));
  const place = /^(?:(?:workshop|node_modules)\/[^/]+|[^/]+)/;
  const places = new Set(files.map((file) => place.exec(file)?.[0] ?? ''));
  const expected = `LICENSE README.md activities docs gateway.example.yaml package.json src workflows
    workshop/mongo-standin workshop/simulator`;
  expect([...places].toSorted()).toEqual(expected.split(/\s+/));
  const isTyped = (file: string) => file.startsWith('src/client/');
  expect(files.filter((file) => !isTyped(file) && /\.tsx?$|\.test\.|histories/.test(file))).toEqual([]);
});

async function releaseSteps(): Promise<string[]> {
  const { jobs } = parse(await readFile(join(root, '.github/workflows/release.yml'), 'utf8'));
  return jobs.package.steps.flatMap(({ run: command }: { run?: string }) => command ?? []);
}

async function startRegistry() {
  const published: { authorization: string | undefined; body: any }[] = [];
  const server = createServer(
    listener(async (incoming, answer) => {
      if (incoming.method !== 'PUT') return void answer.writeHead(404).end('{}');
      published.push({ authorization: incoming.headers.authorization, body: await json(incoming) });
      answer.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}');
    }),
  );
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { published, url: `${url}/` };
}

it('is published by the steps of the release, with its token and its provenance', async () => {
  const { published, url } = await startRegistry();
  const steps = await releaseSteps();
  const [setToken, publish] = steps.slice(-2);
  const checkout = join(directory, 'checkout');
  await mkdir(checkout);
  await cp(tarball, join(checkout, 'mediary-0.1.0.tgz'));
  const env = environment({
    HOME: checkout,
    npm_config_registry: url,
    npm_config_userconfig: join(checkout, 'npmrc'),
  });
  const shell = (command = '', more = {}) =>
    run('bash', ['-euc', command], { cwd: checkout, env: { ...env, ...more } });
  await shell(setToken);
  expect(await readFile(join(checkout, 'npmrc'), 'utf8')).toContain('_authToken=${NODE_AUTH_TOKEN}');
  await shell(publish, { NODE_AUTH_TOKEN: 'token-of-the-release' });
  const access = published.map(({ authorization, body }) => [authorization, body.access]);
  expect(access).toEqual([['Bearer token-of-the-release', 'public']]);
  const [manifest]: any[] = Object.values(published[0]?.body.versions);
  expect(manifest).toMatchObject({
    name: 'mediary',
    repository: { type: 'git', url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
    homepage: `${address}#readme`,
    bin: { mediary: 'src/mediary.js', gateway: 'src/gateway.js' },
  });
  for (const name of ['private', 'scripts', 'devDependencies']) expect(manifest).not.toHaveProperty(name);
});

it('the repository itself cannot be published', async () => {
  const { published, url } = await startRegistry();
  const empty = join(directory, 'repository');
  await mkdir(empty);
  await cp(join(root, 'package.json'), join(empty, 'package.json'));
  const env = environment({ npm_config_registry: url, npm_config_ignore_scripts: 'false' });
  const asPublisher = { ...env, [`npm_config_${url.replace('http:', '')}:_authToken`]: 'x' };
  const refused = run('npm', ['publish'], { cwd: empty, env: asPublisher });
  await expect(refused).rejects.toThrow('npm run package writes what is published');
  expect(published).toEqual([]);
});

it('the release continues only if its tag is the version', async () => {
  const [compare = ''] = await releaseSteps();
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const tagged = (tag: string) =>
    run('bash', ['-euc', compare], { cwd: root, env: environment({ GITHUB_REF_NAME: tag }) });
  await tagged(`v${version}`);
  await expect(tagged('v99.0.0')).rejects.toThrow();
});

/** A program in another project, which has strict compiler options but not Node's types. */
const program = `import { createClient, readCallback, MediaryError } from 'mediary/client';
import type { VideoRequest } from 'mediary/client';

const client = createClient({ baseUrl: 'https://gateway.example', apiKey: 'sk-x' });
const body: VideoRequest = { model: 'm', prompt: 'p', duration: 5, metadata: { seed: 7 } };
export async function address(): Promise<string> {
  const { id } = await client.videos.create(body);
  const task = await client.videos.wait(id, { onAnswer: ({ status }) => status });
  // @ts-expect-error: only a task that succeeded has a video
  const early: string = task.video_url;
  return task.status === 'succeeded' ? task.video_url : task.error.message + early;
}
// @ts-expect-error: a misspelt field
export const misspelt: VideoRequest = { model: 'm', prompt: 'p', resolutoin: '480p' };
export const verify = (body: string, headers: Headers) => readCallback({ body, headers, secret: 'whsec_x' });
export const why = (error: MediaryError): string => error.code;
`;

it('in an empty directory, two commands lead to a finished video and a typed client', async () => {
  const home = join(directory, 'app');
  const data = join(home, 'data');
  await mkdir(data, { recursive: true });
  await writeFile(join(home, 'package.json'), '{"private":true,"type":"module"}');
  // Use the servers of this run. The clean-clone test starts its own, and if two tests start servers at the same time,
  // they may choose the same ports.
  const servers = {
    MONGODB_URI: databaseUri('package'),
    TEMPORAL_ADDRESS: temporalAddress(),
    TASK_QUEUE_PREFIX: 'package-',
  };
  const env = environment({ DATA_DIR: data, PORT: '0', ...servers });
  const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, tarball], { cwd: home, env });
  const { stdout } = await run('npx', ['mediary', 'demo'], { cwd: home, env });
  expect(stdout).toMatch(/created task_[^]*succeeded[^]*downloaded[^]*callback arrived, signed/);

  await writeFile(join(home, 'program.ts'), program);
  const compiler = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--types', ''];
  const target = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
  await run(join(root, 'node_modules/.bin/tsc'), [...compiler, ...target, 'program.ts'], { cwd: home, env });
  const imported = `import('./program.js').then(({ verify }) => console.log(typeof verify))`;
  const loaded = await run(process.execPath, ['--eval', imported], { cwd: home, env });
  expect(loaded.stdout).toBe('function\n');
});
