import { expect, it } from 'vitest';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_config_draft');

it('is the running configuration, without secrets, until somebody edits it', async () => {
  const node = await startDraftsNode(world);
  const { status, text, body } = await node.admin('GET', '/config/draft');
  expect([status, body.begun, body.revision, body.base, body.running]).toEqual([200, false, 0, 1, 1]);
  expect([body.changes, body.violations, body.edits]).toEqual([[], [], []]);
  expect(body.text).toContain('# A comment that stays.');
  expect(body.text).toContain('api_key: "${kept}"');
  expect(text).not.toContain('sk-written');
});

it('reports that the gateway is not ready before the first publication', async () => {
  await startDraftsNode(world);
  await world.db.collection('configuration').deleteMany({});
  expect((await world.admin('GET', '/config/draft')).status).toBe(503);
});
