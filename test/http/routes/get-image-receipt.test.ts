import { compactVerify, createLocalJWKSet } from 'jose';
import { expect, it } from 'vitest';
import { newTaskId } from '../../../src/base/ids.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { chargeImages } from '../../../src/money/charge.ts';
import type { PriceBasis } from '../../../src/money/price.ts';
import type { SettleFacts } from '../../../src/money/settle-facts.ts';
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
  expect(body.payload.estimated).toBe(false);
  const keys = (await world.call('GET', '/.well-known/jwks.json')).body;
  const { payload } = await compactVerify(body.jws, createLocalJWKSet(keys));
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual(body.payload);
  for (const answer of [await receiptOf(stranger.key), await receiptOf(account.key, 'img_unknown01')])
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
});

async function receiptFor(basis: PriceBasis, delivery: SettleFacts & { readonly images: number }) {
  const account = await world.newAccount();
  const id = `img_${account.id.replaceAll('-', '')}0001`;
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now: Date.now });
  const of = { account: account.id, task: id };
  const by = { key: account.keyId, model: 'picture' };
  await ledger.hold({ ...of, amount: 500_000n, basis: JSON.stringify(basis), by, overdraftLimit: 0n });
  const { amount, ...how } = chargeImages({ basis, channel: 'one', facts: delivery, held: 500_000n });
  await ledger.settle({
    ...of,
    held: 500_000n,
    amount,
    basis: JSON.stringify({ ...how, reported: delivery }),
  });
  return (await caller(world.url, account.key)('GET', `/v1/images/generations/${id}/receipt`)).body.payload;
}

const bySize: PriceBasis = {
  price: {
    minimum: '0',
    lines: [
      { measure: 'image', when: { size: ['1024x1024'] }, price: '0.04' },
      { measure: 'image', when: { size: ['2048x2048'] }, price: '0.08' },
      { measure: 'reference_image', price: '0.01' },
    ],
  },
  facts: {},
  most: { images: 3 },
  bounds: { reference_image: { most: '2/1', source: 'assumed' } },
  least: '40000',
  version: 'v',
};

it('lists each group of images with its own facts and line, and what is only assumed', async () => {
  const groups = [
    { images: 1, size: '1024x1024' },
    { images: 2, size: '2048x2048' },
  ];
  expect(await receiptFor(bySize, { images: 3, groups })).toMatchObject({
    charge: '0.200000',
    estimated: false,
    usage: { images: 3, groups },
    charge_reckoning: {
      lines: [
        { measure: 'reference_image', source: 'assumed', quantity: '0' },
        { measure: 'image', of: { size: '1024x1024' }, quantity: '1', price: '0.040000' },
        { measure: 'image', of: { size: '2048x2048' }, quantity: '2', price: '0.080000' },
      ],
    },
  });
});

it('shows that a charge is an estimate if nothing is known about the images', async () => {
  expect(await receiptFor(bySize, { images: 3, size: '9x9' })).toMatchObject({
    charge: '0.040000',
    estimated: true,
    charge_reckoning: {
      lines: [],
      steps: [{ kind: 'least' }, { kind: 'share', text: expect.stringContaining('3/3') }],
    },
  });
});

it('names the facts that the lines test on the channel which rendered', async () => {
  const basis: PriceBasis = {
    ...bySize,
    facts: { image_input: false, size: '1500x1500', quality: 'low' },
    unsent: { one: ['quality'], two: ['size'] },
    sizes: { one: '2048x2048' },
  };
  const { charge, basis: shown } = await receiptFor(basis, { images: 1 });
  expect([charge, shown.facts]).toEqual(['0.080000', { image_input: false, size: '2048x2048' }]);
});
