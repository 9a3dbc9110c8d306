import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_edit_config_draft');
const price = '/models/clip/price/lines/0/price';
const key = '/channels/one/credentials/a/api_key';

it('a change is listed with its author, and no process runs it yet', async () => {
  const node = await startDraftsNode(world);
  const { status, body } = await node.set({ [price]: '0.20' });
  expect([status, body.revision, body.begun, body.violations]).toEqual([200, 1, true, []]);
  const changes = [
    { path: 'models.clip.price.lines[0].price', kind: 'changed', before: '"0.10"', after: '"0.20"' },
  ];
  const sealed = { path: 'channels.one.credentials.a.api_key', kind: 'changed' };
  expect(body.changes).toEqual([expect.objectContaining(sealed), ...changes]);
  expect(body.edits).toMatchObject([{ revision: 1, by: 'admin' }]);
  expect(node.running.current().models[0]?.price.lines[0]).toMatchObject({ price: '0.10' });
});

it('a second editor learns what the first one has changed, and nothing is stored', async () => {
  const node = await startDraftsNode(world);
  const both = await Promise.all([node.set({ [price]: '0.20' }, 0), node.set({ [price]: '0.30' }, 0)]);
  expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
  const refused = both.find(({ status }) => status === 409)?.body.error;
  expect(refused).toMatchObject({ code: 'action_not_possible', param: 'revision' });
  expect(refused.message).toMatch(
    /revision 1; you read revision 0\. admin: .*models\.clip\.price\.lines\[0\]\.price: "0\.10" → "0\.[23]0"\. Read the draft/,
  );
  expect(await node.draft()).toMatchObject({ revision: 1, edits: [{ by: 'admin' }] });
});

it('a key is sealed when it is entered, and appears nowhere', async () => {
  const node = await startDraftsNode(world);
  const secret = 'sk-of-a-vendor-that-nobody-sees-1234';
  const { body } = await node.set({ [key]: secret });
  expect(body.secrets).toMatchObject([
    { ending: '1234', created_by: 'admin', origin: 'https://api.example', used: true },
  ]);
  const [{ name }] = body.secrets;
  expect(name).toMatch(/^one\.a-/);
  expect(body.text).toContain(`\${sealed:${name}}`);
  const everything = await Promise.all(
    (await world.db.collections()).map(async (collection) => collection.find().toArray()),
  );
  const audit = (await node.admin('GET', '/audit')).text;
  expect(inspect(everything, { depth: null, maxArrayLength: null }) + audit).not.toContain(secret);
  expect(world.logLines.join('')).not.toContain(secret);
  const moved = await node.set({ '/channels/one/base_url': 'https://evil.example' });
  expect(moved.body.violations).toEqual([
    {
      path: 'channels.one.credentials.a.api_key',
      message: 'this secret was entered for https://api.example; enter it again for its new use',
    },
  ]);
});

it('a draft with mistakes is stored, and the mistakes name their fields', async () => {
  const node = await startDraftsNode(world);
  const { status, body } = await node.set({ '/channels/one/weight': 'heavy', '/models/clip/kind': null });
  expect(status).toBe(200);
  expect(body.violations.map(({ path }: any) => path)).toEqual(['channels[0].weight', 'models[0].kind']);
  expect((await node.draft()).violations).toHaveLength(2);
});

it('an inserted element is written below its list, and one that exists is not replaced', async () => {
  const node = await startDraftsNode(world);
  const insert = async (pointer: string, name?: string) =>
    node.admin('PUT', '/config/draft', {
      revision: (await node.draft()).revision,
      insert: { pointer, ...(name === undefined ? {} : { name }) },
    });
  expect(await insert('/channels', 'two')).toMatchObject({ status: 200, body: { revision: 1 } });
  expect(await insert('/models/clip/price/lines')).toMatchObject({ status: 200, body: { revision: 2 } });
  const { text, channels, edits } = await node.draft();
  expect(text).toContain('id: two');
  expect(text).toContain('# A comment that stays.');
  expect(edits[0].changes).toContainEqual({ path: 'channels.two', kind: 'added', before: null, after: null });
  expect(channels).toEqual([{ id: 'one', provider: 'test', credentials: ['a'] }]);
  for (const [pointer, name] of [['/channels', 'one'], ['/channels'], ['/nothing', 'x']] as const) {
    const { status, body } = await insert(pointer, name);
    expect([pointer, status, body.error.param]).toEqual([pointer, 400, 'insert']);
  }
});

it('a new whole text keeps the secrets that were concealed', async () => {
  const node = await startDraftsNode(world);
  const { text } = await node.draft();
  const { status, body } = await node.admin('PUT', '/config/draft', {
    revision: 0,
    text: text.replace('"0.10"', '"0.40"'),
  });
  expect([status, body.violations]).toEqual([200, []]);
  expect(body.text).toContain('# A comment that stays.');
  expect(body.secrets).toMatchObject([{ ending: 'file', used: true }]);
  const broken = await node.admin('PUT', '/config/draft', { revision: 1, text: 'a: [' });
  expect([broken.status, broken.body.error.param]).toEqual([400, 'text']);
  const both = await node.admin('PUT', '/config/draft', { revision: 1, text: 'a', set: {} });
  expect(both.status).toBe(400);
  const unknown = await node.set({ '/models/none/price': 1 });
  expect([unknown.status, unknown.body.error.param]).toEqual([400, 'set']);
});
