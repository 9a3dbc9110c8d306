import { expect, it } from 'vitest';
import { startDraftsNode, type DraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_config_draft_entry');

const entry = async (node: DraftsNode, pointer: string) =>
  node.admin('GET', `/config/draft/entry?pointer=${encodeURIComponent(pointer)}`);

it('has the fields of an entry, and names the entries below it', async () => {
  const node = await startDraftsNode(world);
  const { body } = await entry(node, '');
  expect(body.entries.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/channels/one',
    '/models/clip',
  ]);
  expect(body.fields).toContainEqual({
    pointer: '/retention/requests_days',
    name: 'retention.requests_days',
    description: 'The number of days for which a request is kept after its task’s deadline',
    type: 'number',
    options: [],
    required: false,
    default: 30,
    value: null,
    mistakes: [],
  });
  expect((await entry(node, '/models/clip')).body.entries).toEqual([
    { pointer: '/models/clip/durations', name: 'durations', present: false },
    { pointer: '/models/clip/price/lines/0', name: 'price lines 0', present: true },
    { pointer: '/models/clip/fallback', name: 'fallback', present: false },
  ]);
  const groups = async (pointer: string) => (await entry(node, pointer)).body.groups;
  expect(await groups('/models/clip')).toEqual([
    {
      pointer: '/models/clip/price/lines',
      name: 'price lines',
      description: 'The price is the sum of these lines',
      key: 'none',
    },
  ]);
  expect(await groups('')).toMatchObject([
    { pointer: '/channels', key: 'id' },
    { pointer: '/models', key: 'id' },
  ]);
  expect([body.removable, (await entry(node, '/channels/one/credentials/a')).body.removable]).toEqual([
    false,
    true,
  ]);
});

it('never shows a secret', async () => {
  const node = await startDraftsNode(world);
  const key = async () => {
    const { text, body } = await entry(node, '/channels/one/credentials/a');
    expect(text).not.toContain('sk-');
    return body.fields[0];
  };
  expect(await key()).toMatchObject({ type: 'secret', required: true, value: '${kept}' });
  await node.set({ '/channels/one/credentials/a/api_key': 'sk-of-a-vendor-9876' });
  expect((await key()).value).toMatch(/^\$\{sealed:one\.a-\w{8}\}$/);
});

it('shows a mistake at its field', async () => {
  const node = await startDraftsNode(world);
  await node.set({ '/channels/one/limits/polls_per_second': 'many', '/models/clip/ratios': [1] });
  const mistakesOf = async (pointer: string, name: string) =>
    (await entry(node, pointer)).body.fields.find((field: { name: string }) => field.name === name).mistakes;
  expect(await mistakesOf('/channels/one', 'limits.polls_per_second')).toHaveLength(1);
  expect(await mistakesOf('/channels/one', 'limits.submits_per_second')).toEqual([]);
  expect(await mistakesOf('/models/clip', 'ratios')).toHaveLength(1);
});

it.each(['/channels/two', '/channels/one/enabled', '/results', '/__proto__', 'channels', '/channels'])(
  'refuses %s, because it is not an entry',
  async (pointer) => {
    const { status, body } = await entry(await startDraftsNode(world), pointer);
    expect([status, body.error.param]).toEqual([400, 'pointer']);
  },
);
