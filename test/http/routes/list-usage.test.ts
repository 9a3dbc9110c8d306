import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_usage');

it('of all accounts, or of one', async () => {
  // By default, usage covers the month so far.
  world.clock.stoppedAt = Date.parse('2031-03-15T12:00:00Z');
  const [one, two] = [await world.newAccount(), await world.newAccount()];
  await one.create();
  await two.create();
  await two.create();
  const row = { settled: 0, released: 0, charged: '0.000000', refunded: '0.000000' };
  const all = await world.admin('GET', '/usage?by=account');
  expect(all.body.data).toEqual(
    [
      { account: one.id, tasks: 1, open: 1, ...row },
      { account: two.id, tasks: 2, open: 2, ...row },
    ].toSorted((a, b) => (a.account < b.account ? -1 : 1)),
  );
  const own = await world.admin('GET', `/usage?by=&account=${two.id}`);
  expect(own.body.data).toEqual([{ tasks: 2, open: 2, ...row }]);
  expect((await world.admin('GET', '/usage?by=account,model&format=csv')).text).toContain(
    `${two.id},clip,2,`,
  );
});

it('400', async () => {
  const answer = await world.admin('GET', '/usage?by=channel');
  expect([answer.status, answer.body.error.param]).toEqual([400, 'by']);
});
