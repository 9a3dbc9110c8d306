import { expect, it } from 'vitest';
import { useHttpWorld, videoBody } from '../../support/http-world.ts';

const world = useHttpWorld('route_explain_price');

const explain = (body: object) => world.admin('POST', '/prices/explain', body);

it('the rule, the facts and where they come from, each step, and the channels', async () => {
  const { status, body } = await explain({ request: { model: 'clip', duration: -1 } });
  expect([status, body]).toEqual([
    200,
    {
      object: 'price.explanation',
      model: 'clip',
      currency: 'USD',
      hold: {
        amount: '1.200000',
        channel: 'one',
        rules_of: 'model',
        seconds: 12,
        facts: expect.arrayContaining([
          { name: 'resolution', value: '720p', source: 'default' },
          { name: 'duration', value: 12, source: 'open' },
          { name: 'video_input', value: false, source: 'request' },
        ]),
        lines: [
          {
            index: 1,
            measure: 'second',
            price: '0.100000',
            when: {},
            quantity: '12',
            source: 'open',
            text: '0.100000 USD × 12 seconds',
            amount: '1.2',
          },
        ],
        steps: [
          { kind: 'sum', text: 'the sum of the lines, rounded half up to six places', amount: '1.200000' },
          { kind: 'minimum', text: 'at least 0.000000 USD, the minimum', amount: '1.200000' },
          {
            kind: 'multiplier',
            text: '× 1, the multiplier of holds, rounded half up',
            amount: '1.200000',
          },
        ],
      },
      usual: expect.objectContaining({
        amount: '0.500000',
        lines: [expect.objectContaining({ quantity: '5', source: 'open' })],
      }),
      channels: [
        { channel: 'one', dearest: '1.200000', rules_of: 'model' },
        { channel: 'two', dearest: '1.200000', rules_of: 'model' },
      ],
      dropped: [{ channel: 'three', reason: 'model_not_served', detail: expect.any(String) }],
      warnings: [],
    },
  ]);
});

it('is what a create holds, at the channel’s own price too', async () => {
  world.configure((yaml) =>
    yaml.replace(
      'credentials: [{ id: b, api_key: k }], models: { clip: { upstream: u } }',
      'credentials: [{ id: b, api_key: k }], models: { clip: { upstream: u, price: { minimum: "3", lines: [{ measure: call, price: "0.5" }] } } }',
    ),
  );
  try {
    const { body } = await explain({ request: { ...videoBody, duration: 8 } });
    expect(body).toMatchObject({
      hold: {
        amount: '3.000000',
        channel: 'two',
        rules_of: 'channel',
        lines: [{ index: 0, measure: 'call', price: '0.500000' }],
        steps: [{ amount: '0.500000' }, { amount: '3.000000' }, { amount: '3.000000' }],
      },
      usual: { amount: '0.800000', channel: 'one', rules_of: 'model' },
      channels: [{ dearest: '0.800000' }, { dearest: '3.000000', rules_of: 'channel' }],
    });
    const account = await world.newAccount();
    await account.create({ duration: 8 });
    expect((await account.balance()).held).toBe(body.hold.amount);
    const { body: estimate } = await account.call('POST', '/v1/videos/generations/estimate', {
      body: { ...videoBody, duration: 8 },
    });
    expect(estimate.explanation).toEqual({ hold: body.hold, usual: body.usual });
    expect(estimate.hold).toBe(body.hold.amount);
    expect((await account.call('GET', '/v1/models/clip')).body.pricing.channels).toEqual([
      {
        channel: 'two',
        minimum: '3.000000',
        lines: [{ measure: 'call', when: {}, price: '0.500000', beyond: 0 }],
      },
    ]);
  } finally {
    world.configure();
  }
});

it('with the permissions of a key, and refused as a create', async () => {
  const { keyId } = await world.newAccount({ key: { channels: ['three'] } });
  const narrow = await explain({ key: keyId, request: { model: 'clip' } });
  expect([narrow.status, narrow.body.error.code]).toEqual([403, 'channel_not_allowed']);
  const unknown = await explain({ key: 'key_none', request: { model: 'clip' } });
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'key_not_found']);
  const wrong = await explain({ request: { model: 'clip', duration: 'long' } });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'duration']);
});
