import { expect, it } from 'vitest';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_config_versions');

it('lists the version in force and those before it, with author and reason', async () => {
  const node = await startDraftsNode(world);
  await node.set({ '/channels/one/priority': 3 });
  await node.admin('POST', '/config/draft/publish', { revision: 1, reason: 'first choice' });
  const { status, text, body } = await node.admin('GET', '/config/versions');
  expect(status).toBe(200);
  const versions = body.data.map((one: any) => [one.version, one.published_by, one.reason]);
  expect(versions).toEqual([
    [2, 'admin', 'first choice'],
    [1, 'start', ''],
  ]);
  expect(text).not.toContain('currency');
  // Simulates a process that died between the two writes of its publication.
  const replaced = world.db.collection<{ _id: string; version: bigint }>('replaced_configurations');
  const [one] = await replaced.find().toArray();
  await replaced.insertOne({ ...one, _id: '0000000002', version: 2n });
  expect((await node.admin('GET', '/config/versions')).body.data).toEqual(body.data);
});
