import { describe, expect, it } from 'vitest';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { defined } from '../../src/base/defined.ts';
import { settle } from '../../src/money/settle.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import type { MeasureVideos } from '../../src/routing/measured-plan.ts';
import { asAsked, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

const caller = testBuyer;
const clips = ['https://media.example/1.mp4', 'https://media.example/2.mp4'];

interface Sold {
  readonly provider: string;
  readonly upstream: string;
  readonly measures: readonly string[];
}

const byTokens: Sold = {
  provider: 'ark',
  upstream: 'dreamina-seedance-2-0-260128',
  measures: ['million_tokens'],
};
const bySeconds: Sold = {
  provider: 'dashscope',
  upstream: 'wan2.7-r2v',
  measures: ['second', 'input_second'],
};

function catalogueOf({ provider, upstream, measures }: Sold, measureVideos?: MeasureVideos) {
  const channel = {
    id: 'one',
    provider,
    base_url: 'http://u.test',
    credentials: [{ id: 'a', api_key: 'k' }],
    models: { m: { upstream } },
  };
  const model = {
    id: 'm',
    kind: 'video',
    input_types: ['text_to_video', 'first_last_frame', 'reference'],
    resolutions: ['720p'],
    ratios: ['16:9', 'adaptive'],
    durations: { min: 4, max: 15, default: 5, auto: true },
    inputs: { images: { max: 9 }, videos: { max: 3 } },
    price: { lines: measures.map((measure) => ({ measure, price: '1' })) },
  };
  const config = fileSchema.parse({ currency: 'USD', channels: [channel], models: [model] });
  return createCatalogue({
    current: () => ({ ...config, hash: 'v', vendors: {} }),
    providers,
    random: () => 0,
    ...defined({ measureVideos }),
  });
}

function planned(
  sold: Sold,
  seconds: readonly (number | undefined)[],
  { factor, ...asked }: Partial<VideoRequest> & { readonly factor?: string } = {},
) {
  const measured: (readonly string[])[] = [];
  const catalogue = catalogueOf(sold, (urls) => {
    measured.push(urls);
    return Promise.resolve(seconds);
  });
  const request = asAsked(
    videoRequest({
      model: 'm',
      ratio: '16:9',
      duration: 5,
      videos: clips.slice(0, seconds.length),
      ...asked,
    }),
  );
  const factors = { models: new Map<string, string>(), ...defined({ all: factor }) };
  return catalogue.planMeasured(request, { ...caller, factors }).then((plan) => ({ plan, measured }));
}

/** 1280 × 720 at 24 frames per second plus one frame. A million tokens cost one unit. */
const micros = (seconds: number): bigint => (921_600n * BigInt(Math.ceil(seconds * 24) + 1)) / 1024n;

describe('the hold of a request with videos', () => {
  it('covers their measured length if tokens are charged for it', async () => {
    const { plan, measured } = await planned(byTokens, [2, 1.5]);
    expect(measured).toEqual([clips]);
    expect(plan.hold).toBe(micros(5 + 3.5));
    expect(plan.warnings).toEqual([]);
    expect(plan.reckoning).toMatchObject({ seconds: 5, input_seconds: 3.5 });
    expect(plan.basis.input_seconds).toBe(3.5);
  });

  it('covers no more than the model accepts, however long they are', async () => {
    expect((await planned(byTokens, [40, 40])).plan.hold).toBe(micros(5 + 15));
  });

  it('covers their length if seconds are charged for it', async () => {
    expect((await planned(bySeconds, [2])).plan.hold).toBe(7_000_000n);
  });

  it.each([byTokens, bySeconds])(
    'covers the longest video, with a warning, if a length is unknown',
    async (sold) => {
      const { plan } = await planned(sold, [2, undefined]);
      const { hold, basis } = catalogueOf(sold).plan(asAsked(plan.request as VideoRequest), caller);
      expect(plan.hold).toBe(hold);
      expect(plan.basis).toEqual(basis);
      expect(plan.warnings).toEqual([
        'videos[1]: the length could not be read in time. The hold covers the longest video that the model accepts.',
      ]);
    },
  );

  it.each([byTokens, bySeconds])(
    'is measured in the same way whatever the account’s price factor',
    async (sold) => {
      const { plan: listed } = await planned(sold, [undefined]);
      expect(listed.pricesInput).toBe(true);
      for (const factor of ['0', '0.000001']) {
        const { plan, measured } = await planned(sold, [undefined], { factor });
        expect(measured).toEqual([clips.slice(0, 1)]);
        expect([plan.pricesInput, plan.inputNeededBy]).toEqual([true, listed.inputNeededBy]);
      }
    },
  );

  it('does not wait if their length is free, or if there are none', async () => {
    const free = await planned({ ...byTokens, measures: ['call'] }, [2, 2]);
    const none = await planned(byTokens, []);
    expect([...free.measured, ...none.measured]).toEqual([]);
    expect(free.plan.warnings).toEqual([]);
  });
});

describe('the hold of a video that is as long as its input', () => {
  const edit = { extra: { video_task: 'edit' } };
  const motion = { references: ['https://media.example/a.png'], extra: { character_orientation: 'video' } };
  it.each<[string, string, object]>([
    ['luma', 'ray-3.2', edit],
    ['luma', 'ray-3.2', { extra: { video_task: 'reframe' } }],
    ['ark', 'dreamina-seedance-2-5-pro', { ...edit, duration: 'auto', ratio: 'adaptive' }],
    ['runway', 'aleph2', {}],
    ['google', 'gemini-omni-1.2', { extra: { video_task: 'upscale' } }],
    ['kling', 'kling-3.0-omni', edit],
    ['kling', 'kling-3.0', motion],
    ['xai', 'grok-imagine-video', edit],
  ])('%s %s %j', async (provider, upstream, asked) => {
    const sold = { provider, upstream, measures: ['second'] };
    const held = async (seconds: number | undefined) => (await planned(sold, [seconds], asked)).plan.hold;
    // A vendor may round 7.1 seconds up to 8, so the hold covers 8.
    expect([await held(7.1), await held(6.4)]).toEqual([8_000_000n, 7_000_000n]);
    const { plan } = await planned(sold, [7.1], asked);
    expect([plan.expected.amount, plan.seconds]).toEqual([7_000_000n, 7]);
    expect(await held(undefined)).toBeGreaterThan(8_000_000n);
  });
});

it('an unreported length is charged by the same length', async () => {
  const { plan } = await planned(byTokens, [2, 1.5]);
  const formula = providers['ark']?.video?.estimateTokens;
  const output = { resolution: '720p', ratio: '16:9', durationSeconds: 5 };
  const given = defined({ inputSeconds: plan.basis.input_seconds });
  const estimatedTokens = formula?.(plan.request as VideoRequest, { ...output, ...given }, byTokens.upstream);
  const facts = { resolution: '720p', ratio: '16:9', durationSeconds: 5 };
  const settled = settle({
    basis: plan.basis,
    channel: 'one',
    facts,
    held: plan.hold,
    ...defined({ estimatedTokens }),
  });
  expect(settled).toMatchObject({ amount: plan.hold, input_seconds: 3.5, lines: [{ source: 'formula' }] });
});
