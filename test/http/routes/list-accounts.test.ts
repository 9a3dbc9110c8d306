import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_accounts');

it('in pages, by id', async () => {
  for (const id of ['page-1', 'page-2', 'page-3']) await world.admin('POST', '/accounts', { id });
  const first = await world.admin('GET', '/accounts?limit=2&after=page-0');
  expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(['page-1', 'page-2']);
  expect(first.body.has_more).toBe(true);
  const rest = await world.admin('GET', '/accounts?limit=100&after=page-2');
  expect(rest.body.data.map(({ id }: { id: string }) => id)).toContain('page-3');
  expect(rest.body.has_more).toBe(false);
});

it('each with its balance', async () => {
  const { id } = await world.newAccount({ credit: '7' });
  const { body } = await world.admin('GET', '/accounts?limit=100');
  expect(body.data).toContainEqual(expect.objectContaining({ id, available: '7.000000', held: '0.000000' }));
});

it.each(['0', '-1', 'x', '1.5'])('400: limit=%s', async (limit) => {
  const answer = await world.admin('GET', `/accounts?limit=${limit}`);
  expect([answer.status, answer.body.error.param]).toEqual([400, 'limit']);
});
