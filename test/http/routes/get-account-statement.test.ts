import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_account_statement');

const month = () => new Date().toISOString().slice(0, 7);

it.each(['jsonl', 'csv', 'html'])('%s: what its owner sees', async (format) => {
  const account = await world.newAccount({ credit: '3' });
  const query = `month=${month()}&format=${format}`;
  const answer = await world.admin('GET', `/accounts/${account.id}/statement?${query}`);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('3.000000');
  expect(answer.text).toBe((await account.call('GET', `/v1/statement?${query}`)).text);
});

it('404', async () => {
  const answer = await world.admin('GET', `/accounts/none/statement?month=${month()}`);
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});
