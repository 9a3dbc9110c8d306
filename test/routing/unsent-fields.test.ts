import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { fieldNames, imageFieldNames } from '../../src/models/model-facts.ts';
import { chargeTask } from '../../src/money/charge.ts';
import { formatMicros } from '../../src/money/money.ts';
import { flagFacts, textFacts } from '../../src/money/price.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { asAsked, imageRequest, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

/**
 * A field may affect the price only on channels that send it. Here, a task costs 0.05 with the field and 0.50 without
 * it.
 */

type Fields = Readonly<Record<string, unknown>>;

interface Case {
  readonly kind: 'video' | 'image';
  readonly wish: Fields;
  readonly when: Fields;
  readonly report?: SettleFacts;
}

const cases = {
  resolution: { kind: 'video', wish: { resolution: '480p' }, when: { resolution: ['480p'] } },
  ratio: { kind: 'video', wish: { ratio: '9:16' }, when: { ratio: ['9:16'] } },
  generate_audio: { kind: 'video', wish: { generateAudio: true }, when: { generate_audio: true } },
  mode: { kind: 'video', wish: { mode: 'fast' }, when: { mode: ['fast'] } },
  service_tier: {
    kind: 'video',
    wish: { extra: { service_tier: 'flex' } },
    when: { service_tier: ['flex'] },
  },
  size: { kind: 'image', wish: { size: '1K' }, when: { size: ['1K'] }, report: { size: '4K' } },
  quality: {
    kind: 'image',
    wish: { quality: 'low' },
    when: { quality: ['low'] },
    report: { quality: 'high' },
  },
} as const satisfies Readonly<Record<string, Case>>;

const videos = {
  kind: 'video',
  input_types: ['text_to_video'],
  resolutions: ['480p', '1080p'],
  ratios: ['16:9', '9:16'],
  durations: { min: 4, max: 12, default: 5 },
};
const lengths = { min: 4, max: 12 };
const images = { kind: 'image', sizes: ['1K', '4K'], qualities: ['low', 'high'] };

interface Terms {
  readonly ids?: readonly string[];
  readonly lines?: readonly object[];
  readonly resolutionMax?: string;
}

function linesOf({ kind, when }: Case) {
  return kind === 'video'
    ? [
        { measure: 'second', when, price: '0.01' },
        { measure: 'second', price: '0.10' },
      ]
    : [
        { measure: 'image', when, price: '0.05' },
        { measure: 'image', price: '0.50' },
      ];
}

function planOf(
  name: string,
  asked: Case,
  { ids = ['ignores'], lines = linesOf(asked), ...key }: Terms = {},
) {
  const { kind, wish } = asked;
  const sent =
    kind === 'video'
      ? { fields: { mode: true }, parameters: { service_tier: {} } }
      : { fields: { size: true, quality: true } };
  const unsent: Over =
    name === 'service_tier'
      ? { reserved: [name] }
      : { fields: { [name]: false }, ...(name === 'duration' ? { unsaid: { seconds: lengths } } : {}) };
  const channels = ids.map((id) => ({
    id,
    provider: 'ark',
    base_url: 'https://one.example',
    credentials: [{ id: 'a', api_key: 'k' }],
    models: {
      m: { upstream: 'unknown-model', facts: id === 'ignores' ? mergedFacts(sent, unsent) : sent },
    },
  }));
  const model = { id: 'm', ...(kind === 'video' ? videos : images), price: { lines } };
  const config = parseGatewayConfig(stringify({ currency: 'USD', channels, models: [model] }), 'test', {
    environment: {},
    providerNames: Object.keys(providers),
  });
  const catalogue = createCatalogue({ current: () => config, providers, random: () => 0.5 });
  const request =
    kind === 'video'
      ? asAsked(videoRequest({ model: 'm', resolution: '1080p', ratio: '16:9', duration: 5, ...wish }))
      : imageRequest({ model: 'm', ...wish });
  return catalogue.plan(request, { ...testBuyer, ...key });
}

interface Over {
  readonly fields?: object;
  readonly reserved?: readonly string[];
  readonly unsaid?: object;
}

function mergedFacts({ fields, ...sent }: { readonly fields: object }, over: Over) {
  return { ...sent, ...over, fields: { ...fields, ...over.fields } };
}

function charged(
  { request, basis, hold }: ReturnType<typeof planOf>,
  channel: string,
  facts: SettleFacts = {},
) {
  const made = request.kind === 'video' ? { durationSeconds: 5 } : { images: 1 };
  const input = { basis, channel, facts: { ...made, ...facts }, held: hold };
  const { settlement, isBeyond } = chargeTask(request.kind, input);
  expect(isBeyond).toBe(false);
  return formatMicros(settlement.amount);
}

it('each field that a price line may test has a case', () => {
  const priced = new Set<string>([...textFacts, ...flagFacts, 'duration']);
  const fields = [...fieldNames, ...imageFieldNames].filter((name) => priced.has(name));
  // `service_tier` has a case, although it is an extra parameter rather than a field of the request. `draft` needs no
  // case, because channels that do not send it reject it. The tests of `duration` are below.
  expect([...Object.keys(cases), 'duration'].filter((name) => name !== 'service_tier').toSorted()).toEqual(
    fields.filter((name) => name !== 'draft').toSorted(),
  );
});

describe.each(Object.entries<Case>(cases))('%s', (name, asked) => {
  it('does not affect the price if it is not sent', () => {
    const plan = planOf(name, asked);
    expect(formatMicros(plan.hold)).toBe('0.500000');
    expect(charged(plan, 'ignores')).toBe('0.500000');
    expect(charged(plan, 'ignores', asked.report)).toBe('0.500000');
    expect(plan.warnings).not.toEqual([]);
  });

  it('affects each of two channels as that channel sends it', () => {
    const plan = planOf(name, asked, { ids: ['sends', 'ignores'] });
    expect(formatMicros(plan.hold)).toBe('0.500000');
    for (const report of [{}, asked.report])
      expect([charged(plan, 'sends', report), charged(plan, 'ignores', report)]).toEqual([
        '0.050000',
        '0.500000',
      ]);
  });
});

it('a resolution that is not sent is charged as it was rendered', () => {
  const plan = planOf('resolution', cases.resolution);
  for (const measured of [[], ['resolution']] as const) {
    expect(charged(plan, 'ignores', { resolution: '480p', measured })).toBe('0.050000');
    expect(charged(plan, 'ignores', { resolution: '1080p', measured })).toBe('0.500000');
  }
});

it('a quality that is not sent is charged as it was rendered', () => {
  const plan = planOf('quality', cases.quality);
  expect(charged(plan, 'ignores', { quality: 'low' })).toBe('0.050000');
  expect(charged(plan, 'ignores', { quality: 'high' })).toBe('0.500000');
});

it('a size that is not sent cannot evade the limit of a key', () => {
  const limited = { resolutionMax: '1080p' };
  const named = (ids: readonly string[]) => planOf('size', cases.size, { ids, ...limited }).candidates;
  expect(named(['sends', 'ignores']).map(({ channel }) => channel)).toEqual(['sends']);
  expect(() => named(['ignores'])).toThrow('This API key is limited to 1080p');
});

it('a size that is not sent does not reduce the tokens that are held', () => {
  const lines = [{ measure: 'million_tokens', price: '1000' }];
  const held = (wish: Fields) => planOf('size', { ...cases.size, wish }, { lines }).hold;
  expect(held({ size: '1024x1024' })).toBe(held({}));
});

describe('a duration that is not sent', () => {
  const when = { duration: { max: 5 } };
  const asked: Case = { kind: 'video', wish: { duration: 5 }, when };
  const calls = [
    { measure: 'call', when, price: '0.05' },
    { measure: 'call', price: '0.50' },
  ];
  const planFor = (ids: readonly string[], lines: readonly object[]) =>
    planOf('duration', asked, { ids, lines });
  const chargeFor = ({ basis, hold }: ReturnType<typeof planOf>, channel: string, facts: SettleFacts) =>
    formatMicros(chargeTask('video', { basis, channel, facts, held: hold }).settlement.amount);

  it('is charged by the rendered length, or by the line for any length if that is unknown', () => {
    const plan = planFor(['ignores'], calls);
    expect(formatMicros(plan.hold)).toBe('0.500000');
    for (const measured of [[], ['duration']] as const) {
      expect(chargeFor(plan, 'ignores', { durationSeconds: 5, measured })).toBe('0.050000');
      expect(chargeFor(plan, 'ignores', { durationSeconds: 12, measured })).toBe('0.500000');
    }
    expect(chargeFor(plan, 'ignores', {})).toBe('0.500000');
  });

  it('affects the price if it is sent', () => {
    const plan = planFor(['sends', 'ignores'], calls);
    expect([chargeFor(plan, 'sends', {}), chargeFor(plan, 'ignores', {})]).toEqual(['0.050000', '0.500000']);
  });

  it('holds the longest length that the model offers, and charges the shortest if no length is known', () => {
    const seconds = [
      { measure: 'second', when, price: '0.01' },
      { measure: 'second', price: '0.10' },
    ];
    const plan = planFor(['ignores'], seconds);
    expect(formatMicros(plan.hold)).toBe('1.200000');
    expect(chargeFor(plan, 'ignores', { durationSeconds: 5 })).toBe('0.050000');
    expect(chargeFor(plan, 'ignores', { durationSeconds: 12 })).toBe('1.200000');
    expect(chargeFor(plan, 'ignores', {})).toBe('0.040000');
  });
});
