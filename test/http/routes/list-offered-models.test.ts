import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_offered_models');

it('has every model with its price, and the channels that offer it, switched off ones too', async () => {
  await world.admin('POST', '/channels/two', { enabled: false, reason: 'slow' });
  const { status, body } = await world.admin('GET', '/models');
  expect([status, body.data.map(({ id }: { id: string }) => id)]).toEqual([
    200,
    ['clip', 'plain', 'other', 'picture'],
  ]);
  expect(body.data[0]).toMatchObject({
    object: 'model',
    kind: 'video',
    pricing: { currency: 'USD', channels: [] },
    channels: [
      { channel: 'one', upstream: 'u', enabled: true },
      { channel: 'two', upstream: 'u', enabled: false },
    ],
  });
});

it('states what a channel has as a price of its own', async () => {
  world.configure((yaml) =>
    yaml.replace(
      'plain: { upstream: p }',
      'plain: { upstream: p, price: { lines: [{ measure: call, price: "3" }] } }',
    ),
  );
  const { body } = await world.admin('GET', '/models');
  world.configure();
  const { pricing } = body.data.find(({ id }: { id: string }) => id === 'plain');
  expect(pricing).toMatchObject({
    lines: [{ measure: 'call', when: {}, price: '1.000000', beyond: 0 }],
    channels: [{ channel: 'one', lines: [{ measure: 'call', when: {}, price: '3.000000' }] }],
  });
});

it('says where the facts come from, and until when the vendor serves a model', async () => {
  world.configure((yaml) => yaml.replace('plain: { upstream: p }', 'plain: { upstream: gone }'));
  const { body } = await world.admin('GET', '/models');
  world.configure();
  const offers = (model: string) => body.data.find(({ id }: { id: string }) => id === model)?.channels;
  const facts = { source: 'a test', read: '2026-11' };
  const retirement = { source: 'a page', read: '2026-11-29', on: '2026-01-02' };
  expect(offers('plain')).toEqual([{ channel: 'one', upstream: 'gone', enabled: true, facts, retirement }]);
  expect(offers('clip')[0]).toMatchObject({ facts, retirement: null });
});
