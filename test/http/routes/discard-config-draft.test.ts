import { expect, it } from 'vitest';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_discard_config_draft');

it('the next change begins from the running configuration, under a new revision', async () => {
  const node = await startDraftsNode(world);
  await node.set({ '/channels/one/priority': 3 });
  const late = await node.admin('DELETE', '/config/draft?revision=0');
  expect([late.status, late.body.error.param]).toEqual([409, 'revision']);
  const { status, body } = await node.admin('DELETE', '/config/draft?revision=1');
  expect([status, body]).toEqual([200, { object: 'config.draft', discarded: true }]);
  expect(await node.draft()).toMatchObject({ begun: false, revision: 2, changes: [] });
  expect((await node.set({ '/channels/one/priority': 4 }, 1)).body.error.message).toContain('discarded');
  expect((await node.set({ '/channels/one/priority': 4 })).body).toMatchObject({ revision: 3, base: 1 });
});
