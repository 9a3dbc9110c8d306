import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_ledger_entries');

it('every entry, oldest first, in pages', async () => {
  const account = await world.newAccount({ credit: '10' });
  const { body } = await account.create();
  await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  const first = await world.admin('GET', `/accounts/${account.id}/ledger?limit=2`);
  expect(first.body.data.map(({ kind }: { kind: string }) => kind)).toEqual(['credit', 'hold']);
  expect(first.body.has_more).toBe(true);
  const rest = await world.admin('GET', `/accounts/${account.id}/ledger?after=2`);
  expect(rest.body.data).toEqual([
    expect.objectContaining({
      seq: 3,
      kind: 'release',
      task: body.id,
      amount: '0.500000',
      available: '10.000000',
      held: '0.000000',
    }),
  ]);
  expect(rest.body.has_more).toBe(false);
});

it('newest first, in pages', async () => {
  const { id } = await world.newAccount({ credit: '10' });
  const listed = async (query: string) =>
    (await world.admin('GET', `/accounts/${id}/ledger?order=newest${query}`)).body;
  for (const reference of ['b', 'c', 'd', 'e'])
    await world.admin('POST', `/accounts/${id}/credits`, { amount: '1', reference });
  const seqs = ({ data, has_more: more }: { data: { seq: number }[]; has_more: boolean }) => [
    data.map(({ seq }) => seq),
    more,
  ];
  expect(seqs(await listed('&limit=2'))).toEqual([[5, 4], true]);
  expect(seqs(await listed('&limit=2&before=4'))).toEqual([[3, 2], true]);
  expect(seqs(await listed('&limit=2&before=2'))).toEqual([[1], false]);
  expect(seqs(await listed('&before=1'))).toEqual([[], false]);
  expect(seqs(await listed('&before=900'))).toEqual([[5, 4, 3, 2, 1], false]);
});

it.each(['', '%20', '0x10', '1e3', '-1', '1.5', 'x'])('400: a page after "%s"', async (after) => {
  const { id } = await world.newAccount();
  const answer = await world.admin('GET', `/accounts/${id}/ledger?after=${after}`);
  expect([answer.status, answer.body.error.param]).toEqual([400, 'after']);
});

it('404', async () => {
  const answer = await world.admin('GET', '/accounts/none/ledger');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});
