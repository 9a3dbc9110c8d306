import { describe, expect, it } from 'vitest';
import type { Buyer } from '../../src/access/caller.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { imageRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';
import type { DroppedChannel } from '../../src/task/candidates.ts';
import { NoChannelError, explainNoChannel } from '../../src/routing/no-channel.ts';

const model = { id: 'm' } as Parameters<typeof explainNoChannel>[0];
const none = { issues: [], limits: [] };
const dropped = (...reasons: DroppedChannel['reason'][]): DroppedChannel[] =>
  reasons.map((reason, n) => ({ channel: `c${n}`, reason, detail: `why ${n}` }));

describe('a request that no channel can serve', () => {
  it.each<[string, DroppedChannel['reason'][], string]>([
    ['nobody has the model', ['model_not_served', 'model_not_served'], 'model_not_found'],
    ['there is no channel at all', [], 'model_not_found'],
    ['the key may not use those that have it', ['not_permitted', 'model_not_served'], 'channel_not_allowed'],
    ['one of them is only out of service', ['not_permitted', 'circuit_open'], 'service_unavailable'],
    ['all are switched off', ['disabled'], 'service_unavailable'],
    ['all are full', ['at_concurrency_limit'], 'service_unavailable'],
    ['one has no price, and the others are switched off', ['disabled', 'no_price'], 'unsupported_parameter'],
    [
      'one has no price, and another is only out of service',
      ['circuit_open', 'no_price'],
      'service_unavailable',
    ],
    ['the key may use none, and one has no price', ['not_permitted', 'no_price'], 'unsupported_parameter'],
  ])('%s', (_, reasons, code) => {
    expect(explainNoChannel(model, dropped(...reasons), none).code).toBe(code);
  });

  const issue = { param: 'duration', message: 'The model renders 5 or 10 seconds.' };
  const limit = { param: 'resolution', message: 'This API key is limited to 720p.' };
  const objections = { issues: [issue, { param: 'ratio', message: 'Another one.' }], limits: [] };

  it('is refused for an adapter’s objection if no other channel could serve it later', () => {
    const reasons = ['unsupported', 'disabled', 'not_permitted', 'no_price', 'kind_not_served'] as const;
    const error = explainNoChannel(model, dropped(...reasons), objections);
    expect(error).toMatchObject({ code: 'unsupported_parameter', ...issue });
    const limited = explainNoChannel(model, dropped(...reasons), { ...objections, limits: [limit] });
    expect(limited).toMatchObject({ code: 'key_not_allowed', ...limit });
  });

  it.each(['circuit_open', 'no_worker', 'at_concurrency_limit'] as const)(
    'can be retried although others object, because a channel could serve it: %s',
    (reason) => {
      const error = explainNoChannel(model, dropped('unsupported', 'not_permitted', reason), {
        ...objections,
        limits: [limit],
      });
      expect(error).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 30 });
      expect(error.message).toBe(
        'Every channel of m that can serve this request is out of service at the moment.',
      );
    },
  );

  it('may be retried after half a minute only if that can help', () => {
    expect(explainNoChannel(model, dropped('circuit_open'), none).retryAfterSeconds).toBe(30);
    expect(explainNoChannel(model, dropped('no_price'), none).retryAfterSeconds).toBeUndefined();
  });

  it('names no channel to its caller, and explains to operators why each was dropped', () => {
    const error = explainNoChannel(model, dropped('circuit_open', 'disabled'), none);
    expect(error.message).not.toMatch(/c0|why|circuit/);
    expect(error.detail).toBe('c0: circuit_open (why 0); c1: disabled (why 1)');
    const carried = new NoChannelError(error, dropped('circuit_open'));
    expect(carried).toMatchObject({ code: error.code, detail: error.detail, retryAfterSeconds: 30 });
    expect(carried.dropped).toHaveLength(1);
  });
});

describe('an image that the only capable channel could render later', () => {
  const channelOf = (id: string, served: Readonly<Record<string, unknown>>) => ({
    id,
    provider: 'openai',
    base_url: 'http://u.test',
    credentials: [{ id: 'a', api_key: 'k' }],
    models: { m: { upstream: 'gpt-image-1.5', ...served } },
  });
  const lines = (size: string) => [{ measure: 'image', when: { size: [size] }, price: '1' }];

  it.each<[string, Readonly<Record<string, unknown>>, Partial<Buyer>]>([
    ['renders fewer images', { facts: { images: { max: 1 } } }, {}],
    ['has no price for it', { price: { lines: lines('1024x1536') } }, {}],
    ['exceeds the key’s limit', { facts: { fields: { size: false } } }, { resolutionMax: '1024p' }],
  ])('is a 503, not the refusal of another channel that %s', (_, other, limits) => {
    const config = fileSchema.parse({
      currency: 'USD',
      channels: [channelOf('other', other), channelOf('capable', {})],
      models: [{ id: 'm', kind: 'image', n: { max: 4 }, price: { lines: lines('1024x1024') } }],
    });
    const planWhile = (isOpen: boolean) =>
      createCatalogue({
        current: () => ({ ...config, hash: 'v', vendors: {} }),
        providers,
        random: () => 0,
        outage: ({ id }) =>
          isOpen && id === 'capable'
            ? { channel: id, credential: 'a', reason: 'circuit_open', detail: 'fails' }
            : undefined,
      }).plan(
        { ...imageRequest({ model: 'm', n: 3, size: '1024x1024' }), named: {} },
        { ...testBuyer, ...limits },
      );
    expect(planWhile(false).candidates).toEqual([{ channel: 'capable', credential: 'a' }]);
    expect(() => planWhile(true)).toThrow(
      expect.objectContaining({ code: 'service_unavailable', retryAfterSeconds: 30 }),
    );
  });
});
