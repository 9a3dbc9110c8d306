import { expect, it } from 'vitest';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_publish_config_draft');
const price = '/models/clip/price/lines/0/price';
const publish = '/config/draft/publish';
const reason = 'spring prices';

it('the process runs the published draft with its sealed key, and the audit log has author and reason', async () => {
  const node = await startDraftsNode(world);
  const secret = 'sk-of-a-vendor-that-nobody-sees';
  await node.set({ [price]: '0.20', '/channels/one/credentials/a/api_key': secret });
  const { status, body } = await node.admin('POST', publish, { revision: 1, reason });
  expect([status, body.version, body.published_by]).toEqual([200, 2, 'admin']);
  const { models, channels } = node.running.current();
  expect(models[0]?.price.lines[0]).toMatchObject({ price: '0.20' });
  expect(channels[0]?.credentials[0]?.api_key).toBe(secret);
  expect(await node.draft()).toMatchObject({ begun: false, base: 2, changes: [] });
  const [act] = (await node.admin('GET', '/audit')).body.data;
  expect(act).toMatchObject({ action: 'publishConfigDraft', by: 'admin', reason, outcome: 'done' });
  expect(act.changes.map(({ path }: any) => path).toSorted()).toEqual([
    'channels.one.credentials.a.api_key',
    'models.clip.price.lines[0].price',
  ]);
  expect(JSON.stringify(act)).not.toContain(secret);
  const again = await node.admin('POST', publish, { revision: 2, reason });
  expect([again.status, again.body.error.code]).toEqual([409, 'action_not_possible']);
});

it('a draft with mistakes or of another revision is not published', async () => {
  const node = await startDraftsNode(world);
  await node.set({ '/channels/one/weight': -1 });
  const bad = await node.admin('POST', publish, { revision: 1, reason });
  expect([bad.status, bad.body.error.message]).toEqual([400, expect.stringContaining('channels[0].weight')]);
  const late = await node.admin('POST', publish, { revision: 0, reason });
  expect([late.status, late.body.error.param]).toEqual([409, 'revision']);
  expect(node.running.state().version).toBe(1);
});

it('a draft from an older version is refused with what changed since, unless it names the version that it replaces', async () => {
  const node = await startDraftsNode(world);
  await node.set({ [price]: '0.20' });
  const { text = '' } = (await world.stores.configurations.read()) ?? {};
  const next = text.replace('id: clip, kind', 'id: clip, owned_by: us, kind');
  const follows = { follows: 1, by: 'ben', reason: '' };
  expect(await node.running.publishText({ ...follows, text: next })).toMatchObject({ ok: true });
  const refused = await node.admin('POST', publish, { revision: 1, reason });
  expect([refused.status, refused.body.error.param]).toEqual([409, 'over']);
  expect(refused.body.error.message).toContain('ben has since published version 2: models.clip.owned_by');
  const done = await node.admin('POST', publish, { revision: 1, reason, over: 2 });
  expect([done.status, done.body.version]).toEqual([200, 3]);
  expect(node.running.current().models[0]?.owned_by).toBe('mediary');
});

it('if only files change the configuration, a draft can be exported but not published', async () => {
  const node = await startDraftsNode(world, { isExportOnly: true });
  expect((await node.set({ [price]: '0.30' })).body.text).toContain('api_key: "${kept}"');
  const sealed = await node.set({ '/channels/one/credentials/a/api_key': 'sk-a-key-of-a-vendor' });
  expect([sealed.status, sealed.body.error.message]).toEqual([400, expect.stringContaining('${NAME}')]);
  const moved = await node.set({ '/channels/one/base_url': 'https://evil.example' });
  expect(moved.status).toBe(400);
  await node.set({ '/channels/one/credentials/a/api_key': '${NEW_KEY}', [price]: '0.20' });
  expect(await node.draft()).toMatchObject({
    publishable: false,
    text: expect.stringContaining('${NEW_KEY}'),
  });
  const { status, body } = await node.admin('POST', publish, { revision: 2, reason });
  expect([status, body.error.message]).toEqual([409, expect.stringContaining('CONFIG_DRAFTS=export')]);
  expect(node.running.state().version).toBe(1);
});
