import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../src/config/gateway-file.ts';
import { loadExampleCatalogue } from '../../../src/config/example-catalogue.ts';
import { additionTo } from '../../../src/control/catalogue-additions.ts';
import { readYaml } from '../../../src/config/read-yaml.ts';
import { editText } from '../../../src/config/draft-text.ts';
import { adapters } from '../../../src/providers/index.ts';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_add_catalogue_model');
const path = '/config/draft/models';
const vendorKey = 'vendor-key-of-32-characters-1234';
const kling = { revision: 0, model: 'kling-3.0-omni', channel: 'kling', api_key: vendorKey };

it('adds the channel with a sealed key, and the model with its facts and prices', async () => {
  const node = await startDraftsNode(world);
  const { status, text, body } = await node.admin('POST', path, kling);
  expect([status, body.revision]).toEqual([200, 1]);
  expect(body.changes.map(({ path: where }: { path: string }) => where)).toEqual(
    expect.arrayContaining(['channels.kling', 'models.kling-3.0-omni']),
  );
  expect(body.secrets.map(({ ending }: { ending: string }) => ending)).toContain('1234');
  expect(body.text).toContain('base_url: https://api-singapore.klingai.com');
  const { body: audit } = await node.admin('GET', '/audit?limit=5');
  for (const shown of [text, JSON.stringify(audit)]) expect(shown).not.toContain(vendorKey);
  expect(audit.data[0]).toMatchObject({ action: 'addCatalogueModel', outcome: 'done' });
});

it('a second model needs no key, and an existing model keeps its own facts', async () => {
  const node = await startDraftsNode(world);
  await node.admin('POST', path, kling);
  await node.set({ '/models/kling-3.0-omni/owned_by': 'us' });
  const more = { revision: 2, model: 'kling-3.0', channel: 'kling' };
  expect((await node.admin('POST', path, more)).status).toBe(200);
  const again = { ...kling, revision: 3, api_key: undefined };
  const { body } = await node.admin('POST', path, again);
  expect(body.text).toContain('owned_by: us');
  expect(body.text).toMatch(/kling-3\.0: *\n? *\{? *upstream: kling-3\.0/);
});

it('a key or an address for a channel already in the draft replaces the old one', async () => {
  const node = await startDraftsNode(world);
  await node.admin('POST', path, { ...kling, base_url: 'https://mistyped.example' });
  const right = { api_key: 'another-key-of-32-characters-5678', base_url: 'https://right.example' };
  const { body } = await node.admin('POST', path, { ...kling, ...right, revision: 1 });
  expect(body.channels).toContainEqual({ id: 'kling', provider: 'kling', credentials: ['main'] });
  expect(body.text).toContain('base_url: https://right.example');
  const used = body.secrets.filter(
    (one: { name: string; used: boolean }) => one.used && one.name.startsWith('kling.'),
  );
  expect(used).toMatchObject([{ ending: '5678', origin: 'https://right.example' }]);
});

it('uses the listed prices as the upstream’s costs, if requested', async () => {
  const node = await startDraftsNode(world);
  const { body } = await node.admin('POST', path, { ...kling, has_listed_cost: true });
  const { channels } = (readYaml(body.text) as { value: { channels: { id: string }[] } }).value;
  const { lines } = body.models.find(({ id }: { id: string }) => id === kling.model);
  const cost = { lines: lines.map(({ price }: { price: string }) => expect.objectContaining({ price })) };
  expect(channels.find(({ id }) => id === 'kling')).toMatchObject({ models: { [kling.model]: { cost } } });
});

it('adds a markup to the listed prices, but not to the costs', async () => {
  const node = await startDraftsNode(world);
  const listed =
    (await loadExampleCatalogue()).models.find(({ id }) => id === kling.model)?.price.lines ?? [];
  const body = { ...kling, has_listed_cost: true, markup_percent: 12.5 };
  const { body: draft } = await node.admin('POST', path, body);
  const sold = draft.models.find(({ id }: { id: string }) => id === kling.model).lines;
  expect(sold.map(({ price }: { price: string }) => Number(price))).toEqual(
    listed.map(({ price }) => expect.closeTo(Number(price) * 1.125, 6)),
  );
  expect(sold.every(({ price }: { price: string }) => /^\d+\.\d{2,6}$/.test(price))).toBe(true);
  const { channels } = (readYaml(draft.text) as { value: { channels: { id: string }[] } }).value;
  const cost = { lines: listed.map(({ price }) => expect.objectContaining({ price })) };
  expect(channels.find(({ id }) => id === 'kling')).toMatchObject({ models: { [kling.model]: { cost } } });
  const again = await node.admin('POST', path, { ...body, revision: 1 });
  expect([again.status, again.body.error.param]).toEqual([400, 'markup_percent']);
  const odd = await node.admin('POST', path, {
    ...body,
    model: 'kling-3.0',
    revision: 1,
    markup_percent: 0.001,
  });
  expect([odd.status, odd.body.error.param]).toEqual([400, 'markup_percent']);
});

it('a channel whose credential has another name also gets `main`', async () => {
  const draft = (credentials: string) =>
    `channels:\n  - { id: kling, provider: kling${credentials}, models: {} }\nmodels: []\n`;
  const catalogue = await loadExampleCatalogue();
  const added = { model: kling.model, channel: 'kling', apiKey: 'a:b' };
  for (const [credentials, ids] of [
    ['', ['main']],
    [', credentials: [{ id: first, api_key: x }]', ['first', 'main']],
    [', credentials: [{ id: main, api_key: x }]', ['main']],
  ] as const) {
    const text = draft(credentials);
    const edited = editText(text, additionTo(text, added, catalogue));
    const read = readYaml('text' in edited ? edited.text : '');
    const keys = ids.map((id) => ({ id, api_key: id === 'main' ? 'a:b' : 'x' }));
    expect(read).toMatchObject({ value: { channels: [{ id: 'kling', credentials: keys }] } });
  }
});

it.each([
  [{ model: 'none' }, 400, 'model'],
  [{ channel: 'none' }, 400, 'channel'],
  [{ channel: 'runway' }, 400, 'channel'],
  [{ api_key: undefined }, 400, 'api_key'],
  [{ revision: 7 }, 409, 'revision'],
])('%j: %i', async (change, status, param) => {
  const node = await startDraftsNode(world);
  const answer = await node.admin('POST', path, { ...kling, ...change });
  expect([answer.status, answer.body.error.param]).toEqual([status, param]);
  expect((await node.draft()).begun).toBe(false);
});

it('every model of the catalogue yields a configuration without mistakes', async () => {
  const catalogue = await loadExampleCatalogue();
  const example = readFileSync(new URL('../../../gateway.example.yaml', import.meta.url), 'utf8');
  const currency = /^currency: \w+$/m.exec(example)?.[0] ?? '';
  let added = 0;
  for (const { id: channel, models } of catalogue.channels) {
    for (const model of Object.keys(models)) {
      const empty = `${currency}\nresults: { storage: directory }\nchannels: []\nmodels: []\n`;
      const set = additionTo(empty, { channel, model, apiKey: 'a:b', hasListedCost: true }, catalogue);
      const edited = editText(empty, set);
      const text = 'text' in edited ? edited.text : '';
      const config = parseGatewayConfig(text, `${channel} ${model}`, {
        environment: {},
        ...adapters,
      });
      expect(config.models.map(({ id }) => id)).toEqual([model]);
      added += 1;
    }
  }
  expect(added).toBeGreaterThan(60);
});
