import { expect, it } from 'vitest';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_roll_back_config');

it('publishes an earlier version again under a new number, and then the later one again', async () => {
  const node = await startDraftsNode(world);
  const priceNow = () => node.running.current().models[0]?.price.lines[0];
  await node.set({ '/models/clip/price/lines/0/price': '0.20' });
  await node.admin('POST', '/config/draft/publish', { revision: 1, reason: 'more' });
  const order = { version: 1, reason: 'too much' };
  const tried = await node.admin('POST', '/config/rollback', { ...order, dry_run: true });
  expect(tried.body.changes.map(({ path }: any) => path)).toContain('models.clip.price.lines[0].price');
  expect(priceNow()).toMatchObject({ price: '0.20' });
  const { status, body } = await node.admin('POST', '/config/rollback', order);
  expect([status, body.version]).toEqual([200, 3]);
  expect(priceNow()).toMatchObject({ price: '0.10' });
  const [act] = (await node.admin('GET', '/audit')).body.data;
  expect([act.action, act.changes]).toEqual(['rollBackConfig', tried.body.changes]);
  expect((await node.admin('POST', '/config/rollback', { version: 2 })).body.version).toBe(4);
  expect(priceNow()).toMatchObject({ price: '0.20' });
  const none = await node.admin('POST', '/config/rollback', { version: 99 });
  expect([none.status, none.body.error.param]).toEqual([400, 'version']);
});
