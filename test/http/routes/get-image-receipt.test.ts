import { compactVerify, createLocalJWKSet } from 'jose';
import { expect, it } from 'vitest';
import { newTaskId } from '../../../src/base/ids.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { heldText, settledText } from '../../ledger/support.ts';
import { caller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { testLedgerKey } from '../../support/sealing.ts';
import { firstRecord } from '../../support/task-records.ts';

const world = useHttpWorld('route_get_image_receipt');

it('of an image generation task, and of no video', async () => {
  const account = await world.newAccount();
  const call = caller(world.url, account.key);
  const id = newTaskId(world.deps.randomBytes);
  await world.stores.tasks.insert(firstRecord(id, { account: account.id, kind: 'image', model: 'picture' }));
  const { status, body } = await call('GET', `/v1/images/generations/${id}/receipt`);
  expect([status, body.payload]).toEqual([
    200,
    expect.objectContaining({
      task: id,
      kind: 'image',
      model: 'picture',
      hold: null,
      request: null,
      ledger: [],
    }),
  ]);
  const video = (await account.create()).body.id;
  const other = await call('GET', `/v1/images/generations/${video}/receipt`);
  expect([other.status, other.body.error.code]).toEqual([404, 'task_not_found']);
});

it('of images that were answered at once, by the ledger alone, to their own account', async () => {
  const [account, stranger] = [await world.newAccount(), await world.newAccount()];
  const id = `img_${account.id.replaceAll('-', '')}0001`;
  const receiptOf = (key: string, image = id) =>
    caller(world.url, key)('GET', `/v1/images/generations/${image}/receipt`);
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now: Date.now });
  const by = { key: account.keyId, model: 'picture' };
  await ledger.hold({
    account: account.id,
    task: id,
    amount: 50_000n,
    basis: heldText,
    by,
    overdraftLimit: 0n,
  });
  expect((await receiptOf(account.key)).body.payload).toMatchObject({ status: 'running', charge: null });
  await ledger.settle({
    account: account.id,
    task: id,
    held: 50_000n,
    amount: 40_000n,
    basis: settledText(40_000n),
  });
  const { status, body } = await receiptOf(account.key);
  expect([status, body]).toMatchObject([
    200,
    {
      object: 'receipt',
      task: id,
      payload: {
        task: id,
        account: account.id,
        kind: 'image',
        model: 'picture',
        status: 'succeeded',
        completed_at: expect.any(Number),
        hold: '0.050000',
        charge: '0.040000',
        request: null,
        usage: null,
        ledger: [{ kind: 'hold' }, { kind: 'settle', amount: '-0.040000' }],
      },
    },
  ]);
  const keys = (await world.call('GET', '/.well-known/jwks.json')).body;
  const { payload } = await compactVerify(body.jws, createLocalJWKSet(keys));
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual(body.payload);
  for (const answer of [await receiptOf(stranger.key), await receiptOf(account.key, 'img_unknown01')])
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});
