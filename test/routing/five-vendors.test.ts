import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { asAsked, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

const yaml = `
currency: USD
results: { storage: directory }
channels:
  - { id: ark, provider: ark, priority: 2, models: { clip: { upstream: doubao-seedance-2-0-260128 } } }
  - { id: wan, provider: dashscope, priority: 1, models: { clip: { upstream: wan3.0-video } } }
  - { id: kling, provider: kling, priority: 1, models: { clip: { upstream: kling-3.0 } } }
  - { id: runway, provider: runway, priority: 1, weight: 3, models: { clip: { upstream: seedance2 } } }
  - { id: bfl, provider: bfl, models: { clip: { upstream: flux-3-video } } }
models:
  - id: clip
    kind: video
    input_types: [text_to_video, first_last_frame, reference]
    resolutions: [720p, 1080p]
    durations: { min: 2, max: 30, default: 5, auto: true }
    inputs: { images: { max: 9 }, videos: { max: 3 }, audios: { max: 3 } }
    price:
      lines:
        - { measure: second, when: { channel: [bfl] }, price: '0.17' }
        - { measure: second, when: { channel: [runway] }, price: '0.36' }
        - { measure: second, price: '0.10' }
`.replaceAll(
  /, models: /g,
  ", base_url: 'https://upstream.example', credentials: [{ id: a, api_key: k }], models: ",
);
const config = parseGatewayConfig(yaml, 'test', { environment: {}, providerNames: Object.keys(providers) });

function plan(
  request: Partial<VideoRequest>,
  broken: readonly string[] = [],
  random: () => number = () => 0,
) {
  const catalogue = createCatalogue({
    current: () => config,
    providers,
    random,
    outage: ({ id }) =>
      broken.includes(id) ? { channel: id, reason: 'circuit_open', detail: 'credential a' } : undefined,
  });
  const full = videoRequest({ model: 'clip', resolution: '720p', ratio: '16:9', duration: 5, ...request });
  return catalogue.plan(asAsked(full), testBuyer);
}

const picture = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const all = ['ark', 'bfl', 'kling', 'runway', 'wan'];

describe('one model of five vendors', () => {
  it.each<[string, Partial<VideoRequest>, readonly string[]]>([
    ['a text', {}, all],
    ['two frames', { firstFrame: picture, lastFrame: picture }, all],
    ['a first frame', { firstFrame: picture }, all],
    ['a reference', { references: [picture] }, ['ark', 'runway', 'wan']],
    ['4 s', { duration: 4 }, ['ark', 'kling', 'runway', 'wan']],
    ['20 s', { duration: 20 }, ['bfl', 'wan']],
    ['a shape that few have', { ratio: '21:9' }, ['ark', 'bfl', 'runway']],
    ['a length that the model chooses', { duration: 'auto' }, ['ark', 'bfl', 'wan']],
    ['a video', { videos: [clip] }, ['ark', 'bfl', 'runway', 'wan']],
    ['several references', { references: [picture, picture, picture] }, ['ark', 'runway', 'wan']],
    ['a seed', { seed: 7 }, ['ark', 'runway', 'wan']],
  ])('%s is rendered by the vendors that can', (_, request, able) => {
    const { candidates, dropped } = plan(request);
    expect(candidates.map(({ channel }) => channel).sort()).toEqual(able);
    expect(dropped.map(({ channel }) => channel).sort()).toEqual(all.filter((id) => !able.includes(id)));
  });

  it('warns about fields that one of them would not use', () => {
    expect(plan({}).warnings).toEqual([]);
    expect(plan({ mode: 'pro', safetyIdentifier: 'u1' }).warnings).toEqual([
      'mode',
      'metadata.safety_identifier',
    ]);
    expect(plan({ seed: 7, extra: { negative_prompt: 'rain' } }).warnings).toEqual([
      'metadata.negative_prompt',
    ]);
  });

  it('refuses a strict request for an unused field, but not for its end user, whose caps apply', () => {
    const strict = { strict: true } as const;
    expect(plan({ ...strict, safetyIdentifier: 'u1' }).warnings).toEqual(['metadata.safety_identifier']);
    expect(() => plan({ ...strict, safetyIdentifier: 'u1', mode: 'pro' })).toThrow('The parameter mode');
  });

  it('goes to the highest priority first, and from there by weight, to each channel once', () => {
    const first = (random: () => number) => plan({}, [], random).candidates.map(({ channel }) => channel);
    const draws = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99].map((draw) => first(() => draw));
    for (const order of draws) {
      expect([order[0], order[4]]).toEqual(['ark', 'bfl']);
      expect([...order].sort()).toEqual(all);
    }
    const seconds = draws.map((order) => order[1] ?? '');
    expect(new Set(seconds)).toEqual(new Set(['wan', 'kling', 'runway']));
    expect(seconds.filter((id) => id === 'runway').length).toBeGreaterThan(3);
  });

  it('skips those that are out of service, unless no others are left', () => {
    const channelsOf = (broken: readonly string[]) =>
      plan({}, broken)
        .candidates.map(({ channel }) => channel)
        .sort();
    expect(channelsOf(['ark', 'wan'])).toEqual(['bfl', 'kling', 'runway']);
    expect(channelsOf(['ark', 'wan', 'kling', 'runway'])).toEqual(['bfl']);
    expect(channelsOf(all)).toEqual(all);
  });

  it('holds what the most expensive channel would charge, and expects what the first one does', () => {
    const held = (request: Partial<VideoRequest>, broken: readonly string[] = []) => {
      const { hold, expected } = plan(request, broken);
      return [hold, expected.amount];
    };
    expect(held({})).toEqual([1_800_000n, 500_000n]);
    expect(held({}, ['runway'])).toEqual([850_000n, 500_000n]);
    expect(held({ seed: 7 }, ['runway'])).toEqual([500_000n, 500_000n]);
    expect(held({ duration: 'auto' })[0]).toBe(3_400_000n);
  });
});
