import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compactVerify, createLocalJWKSet } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/base/canonical-json.ts';
import { settle } from '../../../src/money/settle.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { succeededWith } from '../../support/task-records.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import type { TestAccount } from '../../support/client.ts';

const world = useHttpWorld('route_get_video_receipt', { publicUrl: 'https://gateway.example' });

const receiptOf = async (account: TestAccount, id: string) =>
  account.call('GET', `/v1/videos/generations/${id}/receipt`);

async function verified(jws: string): Promise<unknown> {
  const { body } = await world.call('GET', '/.well-known/jwks.json');
  const { payload } = await compactVerify(jws, createLocalJWKSet(body));
  return JSON.parse(Buffer.from(payload).toString());
}

const ledger = () =>
  createLedger({
    collection: ledgerCollection(world.db),
    key: world.deps.secrets.deriveKey('ledger'),
    now: Date.now,
  });

it('of a task that succeeded: request, basis, usage, charge and entries, signed', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create({ prompt: 'a private prompt' })).body;
  const basis = world.port.started.at(-1)?.basis;
  if (basis === undefined) throw new Error('nothing has started');
  const facts = { durationSeconds: 4, usage: { totalTokens: 7 } };
  const { amount, ...settlement } = settle({ basis, channel: 'one', facts, held: 500_000n });
  await world.drive.accept(id);
  await world.drive.polled(id, { ...succeededWith('https://u.example/1.mp4'), facts });
  const cost = { amount: '0.01', unit: 'USD' };
  await ledger().settle({
    account: account.id,
    task: id,
    held: 500_000n,
    amount,
    basis: JSON.stringify({ version: basis.version, ...settlement, amount: amount.toString(), cost }),
  });
  await world.drive.step(id, { kind: 'ended', status: 'succeeded', charge: amount, chargeEstimated: false });
  const { status, body, text } = await receiptOf(account, id);
  expect(status).toBe(200);
  expect(await verified(body.jws)).toEqual(body.payload);
  expect(body).toMatchObject({
    object: 'receipt',
    task: id,
    payload: {
      format: 'mediary-receipt',
      version: 1,
      issuer: 'https://gateway.example',
      task: id,
      account: account.id,
      kind: 'video',
      model: 'clip',
      status: 'succeeded',
      error: null,
      currency: 'USD',
      hold: '0.500000',
      charge: '0.400000',
      refunded: '0.000000',
      request: {
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        prompt_sha256: '7899950b72e329c42d745f79f97f70535153921f96ca667fe9d0e1b7e398efb4',
      },
      basis: {
        price: {
          lines: [
            { measure: 'second', price: '0.20' },
            { measure: 'second', price: '0.10' },
          ],
        },
        channels: {},
        facts: { duration: 5 },
      },
      usage: { duration: 4, total_tokens: 7 },
      released: '0.100000',
      hold_reckoning: { lines: [{ index: 1, quantity: '5' }] },
      charge_reckoning: { lines: [{ index: 1, quantity: '4', source: 'upstream' }] },
      ledger: [
        { entry: `${account.id}/2`, kind: 'hold', amount: '-0.500000' },
        { entry: `${account.id}/3`, kind: 'settle', amount: '-0.400000', hash: expect.any(String) },
      ],
    },
  });
  // Callers must not see the vendor's price, and readers of a receipt must not see the prompt.
  expect(text).not.toMatch(/0\.01"|private prompt/);
  expect((await receiptOf(account, id)).body.jws).toBe(body.jws);
  const forged = [
    ...body.jws.split('.').slice(0, 1),
    Buffer.from(canonicalJson({ ...body.payload, charge: '0.000000' })).toString('base64url'),
    ...body.jws.split('.').slice(2),
  ];
  await expect(verified(forged.join('.'))).rejects.toThrow('signature');
});

it('of a cancelled task: a charge of 0', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  expect((await receiptOf(account, id)).body.payload).toMatchObject({ charge: null, completed_at: null });
  await account.call('POST', `/v1/videos/generations/${id}/cancel`);
  const { body } = await receiptOf(account, id);
  expect(await verified(body.jws)).toMatchObject({
    status: 'failed',
    error: 'task_cancelled',
    hold: '0.500000',
    charge: '0.000000',
    charge_reckoning: null,
    ledger: [{ kind: 'hold' }, { kind: 'release' }],
  });
});

it('uses the configured key, and earlier receipts stay valid', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  const first = (await receiptOf(account, id)).body.jws;
  world.configure((yaml) => `${yaml}\nreceipts: { key: 2 }\n`);
  try {
    const second = (await receiptOf(account, id)).body.jws;
    expect(second).not.toBe(first);
    expect(await verified(second)).toEqual(await verified(first));
  } finally {
    world.configure();
  }
});

it('404: of another account’s task, and of images', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  const other = await receiptOf(await world.newAccount(), id);
  expect([other.status, other.body.error.code]).toEqual([404, 'task_not_found']);
  const none = await receiptOf(account, 'task_none');
  expect([none.status, none.body.error.code]).toEqual([404, 'task_not_found']);
});

describe('the program of docs/money.md', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'receipt-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function check(receipt: object): Promise<unknown> {
    const page = await readFile(new URL('../../../docs/money.md', import.meta.url), 'utf8');
    const [, program = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
    const { text: keys } = await world.call('GET', '/.well-known/jwks.json');
    const files = {
      'check-receipt.mjs': program,
      'receipt.json': JSON.stringify(receipt),
      'keys.json': keys,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    const { stdout } = await promisify(execFile)(process.execPath, Object.keys(files), { cwd: directory });
    return JSON.parse(stdout);
  }

  it('prints the signed content, and refuses a changed receipt', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create()).body;
    const { body } = await receiptOf(account, id);
    expect(await check(body)).toEqual(body.payload);
    const [header, , signature] = body.jws.split('.');
    const other = Buffer.from(JSON.stringify({ ...body.payload, account: 'another' })).toString('base64url');
    await expect(check({ ...body, jws: [header, other, signature].join('.') })).rejects.toThrow(
      'This receipt was not signed with these keys, or was changed.',
    );
  });
});
