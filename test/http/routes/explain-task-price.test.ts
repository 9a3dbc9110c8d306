import { expect, it } from 'vitest';
import { settle } from '../../../src/money/settle.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_explain_task_price');

const explain = async (id: string) => (await world.admin('GET', `/tasks/${id}/price`)).body;
const ledger = () =>
  createLedger({
    collection: ledgerCollection(world.db),
    key: world.deps.secrets.deriveKey('ledger'),
    now: Date.now,
  });

it('of a running task the hold, and what decides the charge', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create({ duration: -1 })).body;
  expect(await explain(id)).toMatchObject({
    object: 'price.explanation',
    task: id,
    account: account.id,
    model: 'clip',
    currency: 'USD',
    hold: {
      amount: '1.200000',
      how: {
        channel: 'one',
        lines: [{ index: 1, price: '0.100000', quantity: '12', source: 'open' }],
        steps: [{ kind: 'sum' }, { kind: 'minimum' }, { kind: 'multiplier', amount: '1.200000' }],
      },
    },
    charge: null,
    refunded: '0.000000',
    note: 'The charge depends on the upstream’s report, at the prices frozen with the hold.',
  });
});

it('of a settled one the charge, by the frozen rules, from what the upstream has said', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  const basis = world.port.started.at(-1)?.basis;
  if (basis === undefined) throw new Error('nothing has started');
  const facts = { durationSeconds: 4.5, resolution: '1080p' };
  const { amount, ...settlement } = settle({ basis, channel: 'two', facts, held: 500_000n });
  await ledger().settle({
    account: account.id,
    task: id,
    held: 500_000n,
    amount,
    basis: JSON.stringify({ version: basis.version, ...settlement, amount: amount.toString() }),
  });
  world.configure((yaml) => yaml.replaceAll('price: "0.20"', 'price: "9"'));
  const { charge, note } = await explain(id);
  world.configure();
  expect(note).toBe('The hold has been settled.');
  expect(charge).toMatchObject({
    amount: '0.900000',
    how: {
      amount: '0.900000',
      channel: 'two',
      lines: [
        {
          index: 0,
          measure: 'second',
          when: { resolution: ['1080p'] },
          price: '0.200000',
          quantity: '4.5',
          source: 'upstream',
        },
      ],
    },
  });
  expect(charge.how.facts).toEqual(
    expect.arrayContaining([
      { name: 'duration', value: 4.5, source: 'upstream' },
      { name: 'resolution', value: '1080p', source: 'upstream' },
      { name: 'draft', value: false, source: 'request' },
    ]),
  );
});

it('of one that was cancelled nothing is charged', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  await account.call('POST', `/v1/videos/generations/${id}/cancel`);
  expect(await explain(id)).toMatchObject({
    status: 'failed',
    charge: { amount: '0.000000', how: null },
    note: 'Nothing is charged, and the hold is released.',
  });
});

it('of images that were answered at once, from their entries alone; 404: of nothing', async () => {
  const account = await world.newAccount();
  const hold = {
    account: account.id,
    task: 'img_explained',
    amount: 7n,
    overdraftLimit: 0n,
    by: { key: 'k', model: 'picture' },
  };
  await ledger().hold({ ...hold, basis: 'not JSON' });
  expect(await explain('img_explained')).toMatchObject({
    account: account.id,
    model: 'picture',
    status: null,
    hold: { amount: '0.000007', how: null },
  });
  const { status, body } = await world.admin('GET', '/tasks/task_none/price');
  expect([status, body.error.code]).toEqual([404, 'task_not_found']);
});
