import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchAttributeNames } from '../../src/base/queues.ts';
import type { Check, LoadedConfig } from '../../src/cli/context.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { diagnoseServers, foundServer } from '../../src/compose/doctor.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { testYaml } from '../support/test-yaml.ts';

let gateway: TestGateway;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-doctor-'));
  gateway = await startGateway({ environment: { DATA_DIR: directory }, watchesLog: true });
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true });
});

async function doctor(change: Readonly<Record<string, string>> = {}, line: readonly string[] = []) {
  const env = { PATH: process.env['PATH'], ...gateway.environment, PUBLIC_URL: gateway.url, ...change };
  const run = promisify(execFile)(process.execPath, ['src/gateway.js', 'doctor', ...line], { env });
  const { stdout, stderr, code } = await run.then(
    (ended) => ({ ...ended, code: 0 }),
    (error) => error as { stdout: string; stderr: string; code: number },
  );
  return { stdout, stderr, code };
}

async function checksOf(change: Readonly<Record<string, string>>) {
  const { stdout, code } = await doctor(change, ['-o', 'json']);
  const { ok, checks }: { ok: boolean; checks: Check[] } = JSON.parse(stdout);
  return { ok, code, found: Object.fromEntries(checks.map(({ subject, ...found }) => [subject, found])) };
}

it('reports that all is well, one line for each part', async () => {
  const { stdout, stderr, code } = await doctor();
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  const subjects = ['environment', 'configuration', 'MongoDB', 'SECRETS_KEY', 'Temporal', 'results', 'API'];
  expect(lines.map((line) => /^(ok|warning) +(\S+) /.exec(line)?.[2])).toEqual(subjects);
  expect(stdout).toMatch(/^ok +MongoDB +MongoDB \d+\.\d+\S*, replica set \S+\.$/m);
  expect(stdout).toMatch(/^ok +SECRETS_KEY +The key opens the sealed values in this database\.$/m);
  expect(stdout).toMatch(
    /^ok +Temporal +Temporal \d+\.\d+\.\d+\S*, namespace default, retention \d+ hours\.$/m,
  );
  expect(stdout).toMatch(new RegExp(`^(?:ok|warning) +API +${gateway.url} is ready\\.`, 'm'));
});

it('names servers that do not respond, checks the rest, and ends with status 1', async () => {
  const nobody = '127.0.0.1:1';
  const { ok, code, found } = await checksOf({
    MONGODB_URI: `mongodb://${nobody}/x`,
    TEMPORAL_ADDRESS: nobody,
    PUBLIC_URL: `http://${nobody}`,
  });
  expect([ok, code]).toEqual([false, 1]);
  expect(found).toMatchObject({
    environment: { state: 'ok' },
    configuration: { state: 'ok' },
    MongoDB: { state: 'failed', text: expect.stringMatching(/ECONNREFUSED 127.*Check MONGODB_URI/) },
    SECRETS_KEY: { state: 'not_checked' },
    Temporal: { state: 'failed', text: expect.stringMatching(/at 127\.0\.0\.1:1: .*Check TEMPORAL_ADDRESS/) },
    API: { state: 'not_checked', text: expect.stringContaining('Is it running?') },
  });
});

it('names variables that are missing or wrong, and then contacts no server', async () => {
  const { code, found } = await checksOf({ SECRETS_KEY: '', TEMPORAL_TLS_CA: '/no/such/file' });
  expect(code).toBe(1);
  const { environment, MongoDB: mongodb, Temporal: temporal } = found;
  expect(environment?.text).toMatch(
    /SECRETS_KEY: required.*TEMPORAL_TLS_CA: \/no\/such\/file cannot be read/,
  );
  expect([mongodb?.state, temporal?.state]).toEqual(['not_checked', 'not_checked']);
  const short = await checksOf({ SECRETS_KEY: 'c2hvcnQ=' });
  expect(short.found['environment']?.text).toContain('SECRETS_KEY: must be 32 bytes in base64');
});

it('a key that does not open the database', async () => {
  const { code, found } = await checksOf({ SECRETS_KEY: randomBytes(32).toString('base64') });
  expect(code).toBe(1);
  expect(found['SECRETS_KEY']).toMatchObject({
    state: 'failed',
    text: expect.stringContaining('Set the SECRETS_KEY with which this database was started.'),
  });
});

it('a namespace that does not exist', async () => {
  const { found } = await checksOf({ TEMPORAL_NAMESPACE: 'nowhere' });
  expect(found['Temporal']).toMatchObject({
    state: 'failed',
    text: expect.stringMatching(/has no namespace nowhere\. Create it with deploy\/temporal/),
  });
});

it('a configuration file with mistakes', async () => {
  const file = join(directory, 'broken.yaml');
  await writeFile(file, 'currency: dollars\n');
  const { code, found } = await checksOf({ GATEWAY_CONFIG: file });
  expect(code).toBe(1);
  expect(found['configuration']).toMatchObject({
    state: 'failed',
    text: expect.stringMatching(/currency: must be a currency code/),
  });
  expect(found['results']).toMatchObject({ state: 'not_checked' });
});

it('every process logs which server it uses, and warns only if that lacks something', () => {
  const lines = gateway.logLines.map((line): { level: number; msg: string } => JSON.parse(line));
  const named = lines.filter(({ msg }) => msg.startsWith('MongoDB'));
  expect(named).toEqual([
    expect.objectContaining({ msg: expect.stringMatching(/^MongoDB \d\S+, replica set \S+$/) }),
  ]);
});

describe('what one server lacks', () => {
  const config = (more: string): LoadedConfig => ({
    file: 'gateway.yaml',
    config: parseGatewayConfig(`${testYaml}\n${more}`, 'gateway.yaml', {
      environment: { SIMULATOR_URL: gateway.simulatorUrl },
      providerNames: ['ark', 'dashscope', 'fal'],
    }),
  });
  const check = async (subject: string, more: string, searchAttributes?: readonly string[]) => {
    const checks = await diagnoseServers({
      variables: () => gateway.environment,
      loadConfig: () => config(more),
      ...(searchAttributes === undefined ? {} : { searchAttributes }),
    });
    return checks.find((one) => one.subject === subject);
  };

  it('a replica set: a warning, because the gateway works without', () => {
    const facts = { version: '7.0.14', wireVersion: 21, isWritable: true, readsMajority: true } as const;
    const single = foundServer({ ...facts, topology: 'standalone server' });
    expect(single).toEqual({
      state: 'warning',
      text: expect.stringMatching(/^MongoDB 7\.0\.14, standalone server\. It is a .*rs\.initiate\(\)\.$/),
    });
    const old = foundServer({ ...facts, topology: 'replica set', setName: 'rs0', readsMajority: false });
    expect(old).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('enableMajorityReadConcern'),
    });
  });

  it('search attributes', async () => {
    const found = await check('Temporal', '', [...searchAttributeNames, 'MediaNothing']);
    expect(found).toMatchObject({
      state: 'failed',
      text: expect.stringMatching(/lacks the search attributes MediaNothing .*create-namespace\.sh/),
    });
  });

  it('a directory that cannot be written', async () => {
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    expect(await check('results', 'results: { storage: directory, directory: kept }')).toMatchObject({
      state: 'ok',
      text: 'The directory kept is writable.',
    });
    expect(await check('results', 'results: { storage: directory, directory: a-file }')).toMatchObject({
      state: 'failed',
      text: expect.stringMatching(/^The directory a-file cannot be written: .*Check `results`/),
    });
  });
});
