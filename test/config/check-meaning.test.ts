import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError } from '../../src/config/config-error.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { checkPrices, type SoldModel } from '../../src/config/price-coverage.ts';
import { findLine, type PriceCondition, type PriceFacts } from '../../src/money/price.ts';
import { providers } from '../../src/providers/index.ts';

type Fields = Readonly<Record<string, unknown>>;

const channel = (over: Fields = {}) => ({
  id: 'one',
  provider: 'ark',
  base_url: 'https://one.example',
  credentials: [{ id: 'a', api_key: 'k' }],
  models: { m: { upstream: 'u' } },
  ...over,
});
const model = (over: Fields = {}) => ({
  id: 'm',
  kind: 'video',
  resolutions: ['480p', '720p'],
  ratios: ['16:9', '9:16', 'adaptive'],
  durations: { min: 4, max: 12, default: 5 },
  inputs: { images: { max: 2 } },
  price: { lines: [{ measure: 'second', price: '0.10' }] },
  ...over,
});
const price = (...rules: readonly Fields[]) => ({
  price: { lines: rules.map((one) => ({ measure: 'second', ...one })) },
});
const rule = (when: Fields, amount = '1') => ({ when, price: amount });
const last = { price: '1' };

function violationsOf(file: Fields): readonly string[] {
  const text = stringify({ currency: 'USD', channels: [channel()], models: [model()], ...file });
  try {
    parseGatewayConfig(text, 'test', { environment: {}, providerNames: Object.keys(providers) });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.violations;
    throw error;
  }
}

const ofModel = (over: Fields): readonly string[] => violationsOf({ models: [model(over)] });
const rules = 'models[0].price.lines';
const never = 'never matches: no request for this model has such a value';

describe('a channel’s own price', () => {
  const at = (own: Fields, over: Fields = {}) =>
    violationsOf({
      channels: [channel({ models: { m: { upstream: 'u', price: own } } })],
      models: [model(over)],
    });
  const path = 'channels[0].models.m.price';

  it('must fit the model as the model’s own price does', () => {
    expect(at({ minimum: '0.1', ...price(last).price })).toEqual([]);
    const byImage = [{ measure: 'image', price: '1' }];
    expect(at({ lines: byImage })).toEqual([`${path}.lines[0].measure: videos cannot be sold by the image`]);
    expect(at(price(rule({ resolution: ['9k'] }), last).price)).toEqual([
      `${path}.lines[0].when.resolution: ${never}`,
    ]);
    expect(at(price(rule({ resolution: ['480p'] })).price)).toEqual([
      expect.stringContaining(`${path}.lines: no line sets a price per second for`),
    ]);
    expect(at({ ...price(last).price, hold: {} })).toEqual([expect.stringContaining('hold')]);
  });

  it('leaves the model’s price to the channels without one', () => {
    const byChannel = price(rule({ channel: ['one'] }), last);
    expect(violationsOf({ models: [model(byChannel)] })).not.toEqual([]);
    expect(at(price(last).price, byChannel)).toEqual([]);
  });
});

describe('an upstream’s bill', () => {
  const images = { lines: [{ measure: 'image', price: '0.02' }] };
  const message = 'channels[0].models.m.cost: image: does not measure video models';

  it('uses a unit that its model or the channel defines', () => {
    const own = { m: { upstream: 'u', cost: images } };
    expect(violationsOf({ channels: [channel({ models: own })] })).toEqual([message]);
    expect(violationsOf({ channels: [channel({ cost: images })] })).toEqual([message]);
    const better = { m: { upstream: 'u', cost: { lines: [{ measure: 'call', price: '1' }] } } };
    expect(violationsOf({ channels: [channel({ cost: images, models: better })] })).toEqual([]);
  });

  it('uses units with names that a document may contain', () => {
    const named = (name: string) => violationsOf({ channels: [channel({ cost_units: { [name]: '0.01' } })] });
    expect(named('video units')).toEqual([]);
    for (const name of ['$where', 'a.b', '']) expect(named(name)).toHaveLength(1);
  });
});

describe('a gateway.yaml with an impossible value', () => {
  it.each<[string, Fields, readonly string[]]>([
    [
      'a minimum above the maximum',
      { durations: { min: 9, max: 5 } },
      ['models[0].durations.min: 9 is above max, 5'],
    ],
    [
      'a default outside of the range',
      { durations: { min: 4, max: 5, default: 9 } },
      ['models[0].durations.default: 9 is not between 4 and 5'],
    ],
    [
      'a rule with a minimum above the maximum',
      price(rule({ duration: { min: 9, max: 5 } }), last),
      [`${rules}[0].when.duration: min 9 is above max 5`],
    ],
    [
      'a resolution that is not sold',
      price(rule({ resolution: ['4k'] }), last),
      [`${rules}[0].when.resolution: ${never}`],
    ],
    ['an empty list', price(rule({ mode: [] }), last), [`${rules}[0].when.mode: ${never}`]],
    [
      'an input that is not taken',
      price(rule({ video_input: true }), last),
      [`${rules}[0].when.video_input: ${never}`],
    ],
    [
      'a duration that is not sold',
      price(rule({ duration: { min: 13 } }), last),
      [`${rules}[0].when.duration: ${never}`],
    ],
    [
      'a quality of a video',
      price(rule({ quality: ['high'] }), last),
      [`${rules}[0].when.quality: ${never}`],
    ],
    [
      'an unknown channel',
      price(rule({ channel: ['two'] }), last),
      [`${rules}[0].when.channel: "two" is not in the list of channels`],
    ],
    [
      'a fallback to a channel that does not exist',
      { fallback: { channels: ['two'] } },
      ['models[0].fallback.channels[0]: "two" is not in the list of channels'],
    ],
    [
      'a fallback to the only channel',
      { fallback: { channels: ['one'] } },
      ['models[0].fallback.channels: no other channel serves m'],
    ],
    [
      'a rule after one that always holds',
      price(last, rule({ resolution: ['720p'] })),
      [
        `${rules}[1]: is never reached: earlier lines with the same measure match everything that this line matches`,
      ],
    ],
    [
      'a rule inside another',
      price(rule({ duration: { min: 4, max: 9 } }), rule({ duration: { min: 5, max: 8 } }), last),
      [
        `${rules}[1]: is never reached: earlier lines with the same measure match everything that this line matches`,
      ],
    ],
    [
      'a rule that several others cover together',
      price(
        rule({ image_input: true }),
        rule({ image_input: false, resolution: ['480p'] }),
        rule({ resolution: ['480p'] }),
        last,
      ),
      [
        `${rules}[2]: is never reached: earlier lines with the same measure match everything that this line matches`,
      ],
    ],
    [
      'a resolution without a price',
      price(rule({ resolution: ['480p'] })),
      [`${rules}: no line sets a price per second for resolution 720p`],
    ],
    [
      'a combination without a price',
      price(rule({ resolution: ['480p'] }), rule({ image_input: false }), rule({ duration: { max: 7 } })),
      [`${rules}: no line sets a price per second for resolution 720p, image_input true, duration 12`],
    ],
    [
      'a unit of another kind',
      { price: { lines: [{ measure: 'image', price: '1' }] } },
      ['models[0].price.lines[0].measure: videos cannot be sold by the image'],
    ],
  ])('%s', (_, over, expected) => {
    expect(ofModel(over)).toEqual(expected);
  });

  it('reports all mistakes at once', () => {
    const violations = violationsOf({
      currency: 'dollars',
      channels: [channel({ provider: 'nobody', models: { n: { upstream: 'u' } } })],
      models: [
        model({ durations: { min: 9, max: 5 } }),
        model({ id: 'two', kind: 'sound' }),
        model({ id: 'three', ...price(last, last) }),
      ],
    });
    expect(violations).toEqual([
      expect.stringMatching(/^currency: must be a currency code/),
      expect.stringMatching(/^models\[1\]\.kind: /),
      expect.stringMatching(/^channels\[0\]\.provider: "nobody" must be one of /),
      'channels[0].models.n: is not in the list of models',
      'models[0].durations.min: 9 is above max, 5',
      'models[2].price.lines[1]: is never reached: earlier lines with the same measure match everything that this line matches',
    ]);
  });
});

describe('a valid gateway.yaml', () => {
  it.each<[string, Fields]>([
    [
      'whole seconds on both sides of a border',
      price(rule({ duration: { max: 7 } }), rule({ duration: { min: 8 } })),
    ],
    [
      'every resolution, and one for what is not reported',
      price(rule({ resolution: ['480p'] }), rule({ resolution: ['720p'] }), last),
    ],
    [
      'the own resolution of a draft',
      { resolutions: ['720p'], ...price(rule({ draft: true, resolution: ['480p'] }), last) },
    ],
    ['a ratio that an adaptive video may have', price(rule({ ratio: ['21:9'] }), last)],
    [
      'a tier, a mode and sound',
      price(rule({ service_tier: ['flex'] }), rule({ mode: ['pro'], generate_audio: true }), last),
    ],
    ['a channel', price(rule({ channel: ['one'] }))],
    [
      'an image by quality',
      {
        kind: 'image',
        qualities: ['low', 'high', 'auto'],
        price: {
          lines: [
            { measure: 'image', ...rule({ quality: ['low'] }) },
            { measure: 'image', ...rule({ quality: ['high'] }) },
            { measure: 'image', ...last },
          ],
        },
      },
    ],
  ])('%s', (_, over) => {
    expect(ofModel(over)).toEqual([]);
  });

  it('accepts the configuration of local mode', () => {
    const text = readFileSync(new URL('../../src/local/gateway.local.yaml', import.meta.url), 'utf8');
    const environment = { SIMULATOR_URL: 'http://127.0.0.1:1', SIMULATOR_API_KEY: 'k' };
    const providerNames = Object.keys(providers);
    expect(() => parseGatewayConfig(text, 'local', { environment, providerNames })).not.toThrow();
  });
});

const condition: fc.Arbitrary<PriceCondition> = fc.record(
  {
    resolution: fc.uniqueArray(fc.constantFrom('480p', '720p'), { minLength: 1 }),
    image_input: fc.boolean(),
    duration: fc
      .tuple(fc.integer({ min: 4, max: 12 }), fc.integer({ min: 0, max: 8 }))
      .map(([min, longer]) => ({ min, max: min + longer })),
  },
  { requiredKeys: [] },
);

describe('a fallback', () => {
  const path = 'models[0].fallback';
  const said = (fallback: Fields): readonly string[] =>
    violationsOf({
      channels: [channel(), channel({ id: 'two' }), channel({ id: 'idle', models: {} })],
      models: [model({ fallback })],
    });

  it.each<[string, Fields, readonly string[]]>([
    ['is right with a channel that serves the model', { channels: ['two'] }, []],
    [
      'names a channel that does not serve the model',
      { channels: ['two', 'idle'] },
      [`${path}.channels[1]: "idle" does not serve m`],
    ],
    [
      'sends refused content elsewhere without permission',
      { channels: ['two'], on: ['internal', 'moderation_output'] },
      [
        `${path}.on: moderation_output: rejected content is sent to another vendor only if allow_moderation: true is set`,
      ],
    ],
    [
      'sends refused content elsewhere with permission',
      { channels: ['two'], on: ['moderation_input'], allow_moderation: true },
      [],
    ],
    ['names a channel twice', { channels: ['two', 'two'] }, [`${path}.channels: channels must be unique`]],
  ])('%s', (_, fallback, expected) => {
    expect(said(fallback)).toEqual(expected);
  });

  it('covers failures that another channel may not have', () => {
    expect(said({ channels: ['two'], on: ['invalid_input'] })).toHaveLength(1);
    expect(said({ channels: [] })).toHaveLength(1);
  });
});

describe('the check of the rules', () => {
  const lengths = Array.from({ length: 9 }, (_, index) => index + 4);
  const requests: readonly PriceFacts[] = ['480p', '720p'].flatMap((resolution) =>
    [true, false].flatMap((image_input) =>
      lengths.map((duration) => ({ resolution, image_input, duration })),
    ),
  );
  const sold = (whens: readonly PriceCondition[]): SoldModel => ({
    kind: 'video',
    resolutions: ['480p', '720p'],
    ratios: [],
    sizes: [],
    qualities: [],
    durations: { min: 4, max: 12, auto: false },
    inputs: { images: { max: 1 }, videos: { max: 0 }, audios: { max: 0 } },
    price: { lines: whens.map((when) => ({ measure: 'second', when, price: '1' })) },
    channels: ['one'],
  });

  it('finds a gap exactly where trying every request does', () => {
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 6 }), (whens) => {
        const { price: list } = sold(whens);
        const gap = requests.some((facts) => findLine(list, 'second', facts) === undefined);
        const issues = checkPrices(sold(whens)).filter(({ message }) =>
          message.startsWith('no line sets a price'),
        );
        expect(issues.length > 0).toBe(gap);
      }),
      { numRuns: 500 },
    );
  });

  it('never reports a rule as dead if some request reaches it', () => {
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 6 }), (whens) => {
        const { price: list } = sold(whens);
        const reached = new Set(requests.map((facts) => findLine(list, 'second', facts)));
        const dead = checkPrices(sold(whens)).flatMap(({ path }) =>
          typeof path[2] === 'number' ? [path[2]] : [],
        );
        expect(dead.filter((index) => reached.has(index))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
