import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSealer } from '../../src/access/sealer.ts';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import { webhookSecretsOf } from '../../src/access/webhook-secrets.ts';
import { startWorker } from '../../src/worker.ts';
import { caller, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

const [a, b] = [0, 1].map(() => randomBytes(32).toString('base64')) as [string, string];
const idOf = (key: string) => createSealer([Buffer.from(key, 'base64')]).keyId;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway({ environment: { SECRETS_KEY: a }, worker: false });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

async function open(keys: string): Promise<Core> {
  const environment = readEnvironment({ ...gateway.environment, SECRETS_KEY: keys });
  const core = await openCore(environment, gateway.core.log);
  onTestFinished(() => core.close());
  return core;
}

async function serve(core: Core) {
  const api = await startApi(core);
  onTestFinished(() => api.stop());
  return caller(api.url, account.key);
}

const rotate = async (keys: string) => {
  const run = promisify(execFile)(
    process.execPath,
    ['src/gateway.js', 'secrets', 'rotate', '--reason', 'yearly'],
    {
      env: { PATH: process.env['PATH'], ...gateway.environment, SECRETS_KEY: keys },
    },
  );
  return run.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );
};

describe('SECRETS_KEY', () => {
  it('is rotated without an interruption: keys, tasks in flight and secrets stay valid', async () => {
    const task = await account.made();
    const path = `/v1/videos/generations/${task}`;
    const secrets = await webhookSecretsOf(gateway.core)(account.id);

    const both = await open(`${b},${a}`);
    const worker = await startWorker(both);
    onTestFinished(() => worker.stop());
    const callBoth = await serve(both);
    await waitUntil(
      'the task has ended',
      async () => (await callBoth('GET', path)).body.status === 'succeeded',
    );
    expect(await webhookSecretsOf(both)(account.id)).toEqual(secrets);
    await expect(open(b)).rejects.toThrow(
      `SECRETS_KEY: a sealed value needs the key ${idOf(a)}, and SECRETS_KEY contains ${idOf(b)}`,
    );

    const wrongWay = await rotate(b);
    expect(wrongWay).toMatchObject({ code: 1 });
    expect(wrongWay.stdout).toMatch(new RegExp(`^5 values need the key ${idOf(a)}\\.$`, 'm'));
    expect(await rotate(`${b},${a}`)).toEqual({
      code: 0,
      stdout: [
        `key                     ${idOf(b)}`,
        'fields_rewritten        5',
        'values_with_other_keys  0',
        'SECRETS_KEY can now be reduced to its first key.\n',
      ].join('\n'),
      stderr: '',
    });
    const { entries } = await gateway.core.stores.audit.list({}, { limit: 2 });
    const act = {
      action: 'rotateSecrets',
      via: 'shell',
      by: expect.stringMatching(/^shell:./),
      outcome: 'done',
      reason: 'yearly',
    };
    expect(entries).toMatchObject([
      { ...act, target: idOf(b) },
      { ...act, target: idOf(b) },
    ]);

    const after = await open(b);
    const call = await serve(after);
    expect((await call('GET', path)).body).toMatchObject({ status: 'succeeded' });
    expect(await webhookSecretsOf(after)(account.id)).toEqual(secrets);
    expect(await after.stores.requests.find(task)).toMatchObject({ request: { kind: 'video' } });
  });

  it.each([
    ['nothing', 'x', /SECRETS_KEY: must be 32 bytes in base64 .*, or a comma-separated list of such keys/],
    ['one of two', `${randomBytes(32).toString('base64')},x`, /SECRETS_KEY: must be 32 bytes/],
  ])('that holds %s usable is a violation', (_, keys, message) => {
    expect(() => readEnvironment({ SECRETS_KEY: keys })).toThrow(message);
  });
});
