import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { formatMicros } from '../../src/money/money.ts';
import { measures } from '../../src/money/measures.ts';
import { settle } from '../../src/money/settle.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { reckoned } from '../money/reckoned.ts';
import { asAsked, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

type Fields = Readonly<Record<string, unknown>>;

type Wish = Partial<VideoRequest> & { readonly resolutions?: readonly string[] };

function planOf(
  modelPrice: Fields,
  own: Fields | undefined,
  { resolutions = ['720p', '1080p'], ...fields }: Wish = {},
) {
  const channel = (id: string, priority: number, price: Fields = {}) => ({
    id,
    provider: 'ark',
    base_url: 'https://one.example',
    credentials: [{ id: 'a', api_key: 'k' }],
    priority,
    models: { m: { upstream: 'dreamina-seedance-2-0-260128', ...price } },
  });
  const file = {
    currency: 'USD',
    channels: [channel('main', 1), channel('dear', 0, own === undefined ? {} : { price: own })],
    models: [
      {
        id: 'm',
        kind: 'video',
        input_types: ['text_to_video'],
        resolutions,
        ratios: ['16:9', 'adaptive'],
        durations: { min: 4, max: 12, default: 5, auto: true },
        price: modelPrice,
      },
    ],
  };
  const config = parseGatewayConfig(stringify(file), 'test', {
    environment: {},
    providerNames: Object.keys(providers),
  });
  const catalogue = createCatalogue({ current: () => config, providers, random: () => 0.5 });
  return catalogue.plan(asAsked(videoRequest({ model: 'm', ...fields })), testBuyer);
}

const second = (price: string, more: Fields = {}) => ({ lines: [{ measure: 'second', price }], ...more });

describe('the price of a plan', () => {
  it('freezes which resolutions the upstream may choose, if the request names none', () => {
    const mostOf = (resolutions: readonly string[]) =>
      planOf(second('0.10'), undefined, { resolutions }).basis.most;
    expect(mostOf([])).toEqual({ seconds: 5, resolutions: ['720p', '1080p'] });
    expect(mostOf(['1080p'])).toEqual({ seconds: 5 });
  });

  it('is the highest over all channels, each with its own unit and minimum', () => {
    const plan = planOf(second('0.10'), { minimum: '2', lines: [{ measure: 'call', price: '1.50' }] });
    expect(plan.hold).toBe(2_000_000n);
    expect(plan.expected.amount).toBe(500_000n);
    expect(plan.reckoning).toMatchObject({
      rules_of: 'channel',
      facts: { channel: 'dear' },
      lines: [{ measure: 'call' }],
    });
    const cheaper = planOf(second('0.10'), { lines: [{ measure: 'call', price: '0.40' }] });
    expect(cheaper.hold).toBe(500_000n);
    expect(cheaper.reckoning).toMatchObject({
      rules_of: 'model',
      facts: { channel: 'main' },
      lines: [{ measure: 'second' }],
    });
  });

  it('is frozen for each channel, and the one that delivers decides which is charged', () => {
    const { basis, hold } = planOf(second('0.10'), { lines: [{ measure: 'call', price: '1.50' }] });
    expect(basis.channels).toEqual({
      dear: { minimum: '0', lines: [{ measure: 'call', price: '1.50' }] },
    });
    const facts = { durationSeconds: 5 };
    const charge = (channel: string) => settle({ basis, channel, facts, held: hold }).amount;
    expect([charge('main'), charge('dear'), charge('constructor')]).toEqual([500_000n, 1_500_000n, 500_000n]);
    expect(planOf(second('0.10'), undefined).basis).not.toHaveProperty('channels');
  });

  it('shows where each fact of the hold comes from', () => {
    const lines = [
      { measure: 'second', when: { duration: { min: 10 } }, price: '0.30' },
      { measure: 'second', price: '0.10' },
    ];
    const price = { lines, hold: { multiplier: '1.25' } };
    const open = planOf(price, undefined, { duration: 'auto' });
    expect(open.reckoning).toMatchObject({
      facts: { resolution: '720p', duration: 15 },
      sources: { resolution: 'default', duration: 'open' },
      seconds: 15,
      lines: [{ line: 0, source: 'open' }],
    });
    expect(open.reckoning.steps.at(-1)).toEqual({
      kind: 'multiplier',
      multiplier: '1.25',
      amount: '5.625000',
    });
    const bare = planOf(price, undefined);
    expect(bare.reckoning.sources).toMatchObject({ duration: 'default', resolution: 'default' });
    const asked = planOf(price, undefined, { duration: 6, resolution: '1080p', ratio: '16:9' });
    expect(asked.reckoning).toMatchObject({
      facts: { duration: 6, resolution: '1080p' },
      sources: {},
      lines: [{ line: 1, source: 'request' }],
    });
    const tokens = planOf({ lines: [{ measure: 'million_tokens', price: '2.50' }] }, undefined);
    expect(tokens.reckoning).toMatchObject({ lines: [{ source: 'formula' }], seconds: 5 });
  });

  it('is the result of its steps, for any request and price', () => {
    const decimal = fc.integer({ min: 1, max: 10 ** 7 }).map((micros) => formatMicros(BigInt(micros)));
    const sold = measures.filter(
      (measure) => measure !== 'image' && measure !== 'megapixel' && measure !== 'frame',
    );
    const price = fc
      .record({
        measure: fc.constantFrom(...sold),
        others: fc.uniqueArray(fc.constantFrom(...sold), { maxLength: 3 }),
        minimum: decimal,
        prices: fc.tuple(decimal, decimal),
      })
      .map(({ measure, others, minimum, prices: [dear, usual] }) => ({
        minimum,
        lines: [
          { measure, when: { resolution: ['1080p'] }, price: dear },
          ...[...new Set([measure, ...others, 'second' as const])].map((one) => ({
            measure: one,
            price: usual,
          })),
        ],
      }));
    const wish = fc.record<Partial<VideoRequest>>(
      {
        duration: fc.constantFrom<VideoRequest['duration'][]>(4, 7, 'auto'),
        resolution: fc.constantFrom('720p', '1080p'),
        ratio: fc.constantFrom('16:9', 'adaptive'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        price,
        fc.option(price, { nil: undefined }),
        decimal,
        wish,
        (list, own, multiplier, asked) => {
          const plan = planOf({ ...list, hold: { multiplier } }, own, asked);
          expect(reckoned(plan.reckoning)).toBe(formatMicros(plan.hold));
          expect(reckoned(plan.usualReckoning())).toBe(formatMicros(plan.expected.amount));
          const most = [...plan.quotes.values()].map(({ worst }) => worst.amount);
          expect(plan.reckoning.steps.at(-2)?.amount).toBe(
            formatMicros(most.reduce((one, other) => (one > other ? one : other))),
          );
        },
      ),
    );
  });
});
