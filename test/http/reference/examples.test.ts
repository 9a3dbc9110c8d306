import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choosePort } from '../../../src/local/servers/ports.ts';
import { programsOn } from '../../support/docs-page.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const yaml = readFileSync(
  new URL('../../../src/local/gateway.local.yaml', import.meta.url),
  'utf8',
).replaceAll('${SIMULATOR_API_KEY}', 'simulated');
const run = promisify(execFile);
const hasPython = spawnSync('python3', ['--version']).status === 0;
const loader = createRequire(import.meta.url).resolve('tsx');

let gateway: TestGateway;
let directory: string;
let programs: ReturnType<typeof programsOn>;
let variables: NodeJS.ProcessEnv;

beforeAll(async () => {
  const port = await choosePort('any', 'a test');
  const environment = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` };
  gateway = await startGateway({ yaml, environment });
  const account = await gateway.account();
  const { id } = (await account.create({ model: 'seedance-2.5', resolution: undefined, ratio: undefined }))
    .body;
  await account.finished(id);
  const month = new Date().toISOString().slice(0, 7);
  variables = { KEY: account.key, TASK_ID: id, MODEL: 'seedance-2.5', MONTH: month };
  programs = programsOn((await account.call('GET', '/docs')).text);
  directory = await mkdtemp(join(tmpdir(), 'mediary-docs-'));
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true });
});

const answers: readonly [operation: string, text: string, isOperators?: true][] = [
  ['createVideo', 'video.generation.task'],
  ['getVideo', 'video.generation.task'],
  ['listVideos', 'video.generation.task'],
  ['estimateVideo', 'currency'],
  ['createImage', 'b64_json'],
  ['editImage', 'b64_json'],
  ['createOpenaiVideo', 'seedance-2.5'],
  ['createChatCompletion', 'choices'],
  ['listModels', 'seedance-2.5'],
  ['getModel', 'seedance-2.5'],
  ['getBalance', 'available'],
  ['setOwnAlert', 'threshold'],
  ['getStatement', 'closing'],
  ['getKey', 'scopes'],
  ['healthz', 'ok'],
  ['createAccount', 'webhook_secret', true],
  ['listAccounts', 'overdraft_limit', true],
];

it.each(answers)('%s runs in every language', async (operation, text, isOperators) => {
  const { curl = '', typescript = '', python = '' } = programs.get(operation) ?? {};
  const env = { ...process.env, ...variables, ...(isOperators && { KEY: gateway.adminToken }) };
  const options = { cwd: directory, env };
  const byCurl = await run('sh', ['-c', curl], options);
  expect([curl, byCurl.stdout]).toEqual([curl, expect.stringContaining(text)]);
  const file = join(directory, `${operation}.mts`);
  await writeFile(file, typescript);
  const byNode = await run(process.execPath, ['--import', loader, file], options);
  expect(byNode.stdout).toMatch(/^2\d\d /);
  if (!hasPython) return expect(python).toMatch(/urllib\.request\.urlopen\(request\)/);
  // The program raises an error unless the status is 2xx.
  const byPython = await run('python3', ['-c', python], options);
  return expect(byPython.stdout).toContain(text);
});

it('a program writes a file if the response is a file', async () => {
  const { curl = '' } = programs.get('getOpenaiVideoContent') ?? {};
  await run('sh', ['-c', curl], { cwd: directory, env: { ...process.env, ...variables } });
  expect((await readFile(join(directory, 'result'))).subarray(4, 8).toString()).toBe('ftyp');
});
