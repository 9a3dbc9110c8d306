import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import { chargeTask } from '../../src/money/charge.ts';
import type { PriceCondition } from '../../src/money/price.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { createUpstreamClient, type UpstreamClient } from '../../src/http-client/upstream-client.ts';
import { startSimulator, type Simulator } from '../../workshop/simulator/simulator.ts';
import { providers } from '../../src/providers/index.ts';
import { UpstreamError, type VideoProvider } from '../../src/providers/provider.ts';
import { createCatalogue, type RoutePlan } from '../../src/routing/catalogue.ts';
import { asAsked, providerContext, submitContext, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

let simulator: Simulator;
let request: UpstreamClient;

beforeAll(async () => {
  simulator = await startSimulator({ host: '127.0.0.1', port: 0, apiKeys: ['test-key'], renderSeconds: 0 });
  request = createUpstreamClient({ networks: ['127.0.0.0/8'] });
});

afterAll(async () => {
  await request.close();
  await simulator.close();
});

interface Sold {
  readonly provider: keyof typeof paths;
  readonly upstream: string;
  readonly model: SoldModel;
  readonly factor?: string | undefined;
}

interface SoldModel {
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly durations?:
    | { readonly min: number; readonly max: number; readonly default?: number; readonly auto?: boolean }
    | undefined;
  readonly [field: string]: unknown;
}

const paths = {
  ark: '/ark/api/v3',
  gateway: '/new-api/v1',
  dashscope: '/dashscope/api/v1',
  minimax: '/minimax',
  xai: '/xai/v1',
};

function planOf(
  { provider, upstream, model, factor: all }: Sold,
  asked: VideoRequest,
): RoutePlan | undefined {
  const credentials = [{ id: 'a', api_key: 'test-key' }];
  const channel = {
    id: 'one',
    provider,
    base_url: 'http://u.test',
    credentials,
    models: { m: { upstream } },
  };
  const config = fileSchema.parse({ currency: 'USD', channels: [channel], models: [{ id: 'm', ...model }] });
  const catalogue = createCatalogue({
    current: () => ({ ...config, hash: 'v', vendors: {} }),
    providers,
    random: () => 0,
  });
  try {
    const factors = { models: new Map<string, string>(), ...defined({ all }) };
    return catalogue.plan(asAsked(asked), { ...testBuyer, factors });
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

async function render(sold: Sold, sent: VideoRequest): Promise<SettleFacts | undefined> {
  const base = { request, baseUrl: simulator.url + paths[sold.provider], model: sold.upstream };
  const provider = videoOf(sold);
  try {
    const { operation } = await provider.submit(sent, submitContext(base));
    const status = await provider.status(operation, providerContext(base));
    return status.state === 'succeeded' ? status.facts : undefined;
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

function videoOf({ provider }: Sold): VideoProvider {
  const video = providers[provider]?.video;
  if (video === undefined) throw new Error(`${provider} makes no videos`);
  return video;
}

async function heldAndCharged(sold: Sold, asked: VideoRequest) {
  const plan = planOf(sold, asked);
  if (plan?.request.kind !== 'video') return undefined;
  const facts = await render(sold, plan.request);
  if (facts === undefined) return undefined;
  const { request: planned, basis, hold: held } = plan;
  const { settlement, isBeyond } = chargeTask('video', {
    basis,
    channel: 'one',
    facts,
    held,
    tokensOf: ({ resolution, ratio, durationSeconds }) =>
      resolution === undefined || ratio === undefined || durationSeconds === undefined
        ? undefined
        : videoOf(sold).estimateTokens?.(planned, { resolution, ratio, durationSeconds }, sold.upstream),
  });
  return { held, charged: settlement.amount, isBeyond };
}

const resolutions = ['480p', '720p', '768p', '1080p', '2k', '4k'];
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive'];

const condition: fc.Arbitrary<PriceCondition> = fc.record(
  {
    resolution: fc.uniqueArray(fc.constantFrom(...resolutions), { minLength: 1, maxLength: 2 }),
    ratio: fc.uniqueArray(fc.constantFrom(...ratios.slice(0, 6)), { minLength: 1, maxLength: 3 }),
    service_tier: fc.constant(['flex']),
    video_input: fc.boolean(),
    generate_audio: fc.boolean(),
    draft: fc.boolean(),
    duration: fc.record({ min: fc.integer({ min: 0, max: 12 }), max: fc.integer({ min: 12, max: 40 }) }),
  },
  { requiredKeys: [] },
);
const amount = fc.integer({ min: 1, max: 900 }).map((cents) => (cents / 100).toFixed(2));

const durations = fc
  .record({
    min: fc.integer({ min: 1, max: 6 }),
    longer: fc.integer({ min: 0, max: 12 }),
    hasDefault: fc.boolean(),
    auto: fc.boolean(),
  })
  .map(({ min, longer, hasDefault, auto }) => ({
    min,
    max: min + longer,
    auto,
    ...(hasDefault ? { default: min + Math.floor(longer / 2) } : {}),
  }));

const seedance = [
  'seedance-1-0-pro-250528',
  'seedance-1-0-lite-t2v-250428',
  'seedance-1-0-lite-i2v-250428',
  'seedance-1-5-pro-251215',
  'dreamina-seedance-2-0-260128',
  'dreamina-seedance-2-0-fast-260128',
  'dreamina-seedance-2-5-260628',
  'ep-20260101-abcde',
];
const wan = [
  'wan2.7-t2v',
  'wan2.7-i2v',
  'wan2.6-t2v',
  'wan2.6-i2v',
  'wan2.5-t2v-preview',
  'wan2.2-t2v-plus',
  'wan2.2-i2v-plus',
];

const upstream = fc.oneof(
  fc.record({
    provider: fc.constantFrom<'ark' | 'gateway'>('ark', 'gateway'),
    upstream: fc.constantFrom(...seedance),
    measure: fc.constantFrom('million_tokens', 'second', 'call'),
  }),
  fc.record({
    provider: fc.constant<'dashscope'>('dashscope'),
    upstream: fc.constantFrom(...wan),
    measure: fc.constantFrom('second', 'call'),
  }),
  fc
    .record({
      provider: fc.constantFrom<'minimax' | 'xai'>('minimax', 'xai'),
      measure: fc.constantFrom('second', 'call'),
    })
    .map((one) => ({ ...one, upstream: one.provider === 'xai' ? 'grok-imagine-video' : 'MiniMax-H3' })),
);

const sold: fc.Arbitrary<Sold> = fc
  .record({
    at: upstream,
    resolutions: fc.shuffledSubarray(resolutions),
    ratios: fc.oneof(fc.constant(ratios), fc.shuffledSubarray(ratios)),
    durations: fc.option(durations, { nil: undefined }),
    rules: fc.array(fc.record({ when: condition, price: amount }), { maxLength: 4 }),
    last: fc.option(amount, { nil: undefined, freq: 4 }),
    factor: fc.constantFrom(undefined, '0.333333', '1.7'),
    given: fc.uniqueArray(
      fc.record({
        measure: fc.constantFrom(
          'input_second',
          'input_image',
          'reference_image',
          'million_input_text_tokens',
        ),
        price: amount,
        beyond: fc.constantFrom(0, 1, 5),
      }),
      { maxLength: 3, selector: ({ measure }) => measure },
    ),
  })
  .filter(({ rules, last }) => rules.length > 0 || last !== undefined)
  .map(({ at: { provider, upstream: name, measure }, rules, last, given, factor, ...model }) => ({
    provider,
    factor,
    upstream: name,
    model: {
      kind: 'video',
      input_types: ['text_to_video', 'first_last_frame', 'reference'],
      inputs: { images: { max: 9 }, videos: { max: 3 }, audios: { max: 3 } },
      ...model,
      price: {
        lines: [
          ...[...rules, ...(last === undefined ? [] : [{ price: last }])].map((line) => ({
            measure,
            ...line,
          })),
          ...given,
        ],
      },
    },
  }));

const choice = fc.nat({ max: 59 });
const wish = fc.record(
  {
    resolution: choice,
    ratio: choice,
    duration: choice,
    draft: fc.boolean(),
    generateAudio: fc.boolean(),
    frames: fc.constantFrom(29, 121, 289),
    tier: fc.constantFrom('default', 'flex'),
    media: fc.constantFrom<'image' | 'frames' | 'video'>('image', 'frames', 'video'),
    rendered: fc.constantFrom(...ratios.slice(0, 6)),
    fault: fc.constantFrom('missing-usage', 'ark-shape', 'input-seconds=15'),
  },
  { requiredKeys: ['rendered'] },
);
type Wish = typeof wish extends fc.Arbitrary<infer Value> ? Value : never;

function pick<Value>(values: readonly Value[], index: number | undefined): Value | undefined {
  return index === undefined || values.length === 0 ? undefined : values[index % values.length];
}

function askFor({ model, upstream: name }: Sold, chosen: Wish): VideoRequest {
  const { rendered } = chosen;
  const first = name.includes('1-0');
  const draft = name.includes('1-5') ? chosen.draft : undefined;
  const frames = first ? chosen.frames : undefined;
  const tier = first || name.includes('1-5') ? chosen.tier : undefined;
  const generateAudio = first || name.startsWith('wan2.2') ? undefined : chosen.generateAudio;
  const shortest = model.durations?.min ?? 4;
  const isGrok = name.startsWith('grok');
  const lengths = [shortest, shortest + 1, model.durations?.max ?? 5, 5, 'auto' as const];
  const media = name.includes('t2v') ? undefined : name.includes('i2v') ? 'image' : chosen.media;
  // This fault sets the length of a reference video, so it requires one. Reference videos may last 15 seconds in total.
  const fault = chosen.fault === 'input-seconds=15' && media !== 'video' ? undefined : chosen.fault;
  const marks = [`[sim:ratio=${rendered}]`, ...(fault === undefined ? [] : [`[sim:${fault}]`])];
  const url = 'https://media.example/1';
  return videoRequest({
    ...defined({
      resolution: pick(model.resolutions.length === 0 ? resolutions : model.resolutions, chosen.resolution),
      ratio: pick(model.ratios.length === 0 ? ratios : model.ratios, chosen.ratio),
      duration: pick(lengths, chosen.duration),
      generateAudio,
      draft,
    }),
    model: 'm',
    prompt: `a fox ${marks.join(' ')}`,
    extra: { ...defined({ frames }), ...(tier === undefined ? {} : { service_tier: tier }) },
    ...(media === 'image' ? { references: [url] } : {}),
    ...(media === 'frames' ? { firstFrame: url } : {}),
    ...(media === 'video' ? { videos: isGrok ? [url] : [url, url, url] } : {}),
  });
}

describe('a hold', () => {
  it('covers the charge of every valid request', async () => {
    const compared = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(sold, wish, async (entry, chosen) => {
        const result = await heldAndCharged(entry, askFor(entry, chosen));
        if (result === undefined) return;
        compared.set(entry.provider, (compared.get(entry.provider) ?? 0) + 1);
        expect(result.isBeyond).toBe(false);
        expect(result.charged <= result.held, `charged ${result.charged}, held ${result.held}`).toBe(true);
      }),
      { numRuns: 1500 },
    );
    for (const provider of Object.keys(paths)) expect(compared.get(provider)).toBeGreaterThan(5);
  });

  const entry = (over: Partial<SoldModel>, name = 'seedance-1-0-pro-250528'): Sold => ({
    provider: 'ark',
    upstream: name,
    model: {
      kind: 'video',
      resolutions: [],
      ratios,
      price: { lines: [{ measure: 'million_tokens', price: '2.50' }] },
      ...over,
    },
  });

  it('covers the resolution that is sent if the request names none', async () => {
    const narrow = entry({ resolutions: ['720p', '480p'], durations: { min: 2, max: 12, default: 5 } });
    const plan = planOf(narrow, videoRequest({ model: 'm' }));
    expect(plan?.request).toMatchObject({ resolution: '720p' });
    const result = await heldAndCharged(narrow, videoRequest({ model: 'm' }));
    expect(result?.charged).toBeGreaterThan(0n);
    expect(result?.charged).toBeLessThanOrEqual(result?.held ?? 0n);
  });

  it('covers the frames that replace the duration', async () => {
    const perSecond = entry({
      resolutions: ['720p'],
      durations: { min: 2, max: 12, default: 5 },
      price: { lines: [{ measure: 'second', price: '0.10' }] },
    });
    const result = await heldAndCharged(perSecond, videoRequest({ model: 'm', extra: { frames: 289 } }));
    expect(result).toEqual({ held: 1_204_200n, charged: 1_204_200n, isBeyond: false });
  });

  it('covers the most expensive ratio if the image decides it, whatever the request says', async () => {
    const animated: Sold = {
      ...entry({
        input_types: ['first_last_frame'],
        inputs: { images: { max: 1 } },
        price: {
          lines: [
            { measure: 'second', when: { ratio: ['16:9'] }, price: '0.02' },
            { measure: 'second', price: '0.01' },
          ],
        },
      }),
      provider: 'dashscope',
      upstream: 'wan2.7-i2v',
    };
    const asked = {
      model: 'm',
      ratio: '9:16',
      firstFrame: 'https://media.example/1',
      prompt: 'a fox [sim:ratio=16:9]',
    } as const;
    const result = await heldAndCharged(animated, videoRequest(asked));
    expect(result).toEqual({ held: 100_000n, charged: 100_000n, isBeyond: false });
  });

  it('does not change the resolution of a draft', async () => {
    const drafts = entry(
      { resolutions: ['1080p', '720p'], durations: { min: 4, max: 12, default: 5 } },
      'seedance-1-5-pro-251215',
    );
    const plan = planOf(drafts, videoRequest({ model: 'm', draft: true }));
    expect(plan?.request).not.toHaveProperty('resolution');
    const result = await heldAndCharged(drafts, videoRequest({ model: 'm', draft: true }));
    expect(result?.charged).toBeGreaterThan(0n);
    expect(result?.charged).toBeLessThanOrEqual(result?.held ?? 0n);
  });

  it('requests the first resolution that a channel renders', () => {
    const references = entry(
      {
        input_types: ['reference'],
        inputs: { images: { max: 4 } },
        resolutions: ['1080p', '720p'],
        durations: { min: 2, max: 12, default: 5 },
      },
      'seedance-1-0-lite-i2v-250428',
    );
    const images = ['https://media.example/1'];
    const asked = videoRequest({ model: 'm', references: images });
    expect(planOf(references, asked)?.request).toMatchObject({ resolution: '720p' });
  });
});
