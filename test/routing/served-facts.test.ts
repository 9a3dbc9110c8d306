import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import { offeredFactsSchema } from '../../src/models/offered-facts.ts';
import type { AskedImages, ImageInput, ImageRequest, VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { createChannels } from '../../src/routing/channels.ts';
import {
  asAsked,
  canned,
  fixture,
  imageRequest,
  providerContext,
  submitContext,
  videoRequest,
} from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

function configOf(facts: string) {
  return parseGatewayConfig(
    `
currency: USD
channels:
  - id: one
    provider: runway
    base_url: https://upstream.example
    credentials: [{ id: a, api_key: k }]
    models: { m: { upstream: gen4.5${facts} } }
  - id: two
    provider: runway
    base_url: https://upstream.example
    credentials: [{ id: a, api_key: k }]
    models: { m: { upstream: gen4.5${facts} } }
  - id: off
    provider: runway
    enabled: false
    base_url: https://upstream.example
    credentials: [{ id: a, api_key: k }]
    models: { m: { upstream: veo3.1 } }
models:
  - id: m
    kind: video
    input_types: [text_to_video, reference]
    inputs: { images: { max: 9 } }
    price: { lines: [{ measure: call, price: "1" }] }
`,
    'gateway.yaml',
    { environment: {}, providerNames: Object.keys(providers) },
  );
}

function catalogueOf(facts: string) {
  const config = configOf(facts);
  return createCatalogue({ current: () => config, providers, random: () => 0 });
}

function plan(facts: string, over: Partial<VideoRequest>) {
  const asked = asAsked(videoRequest({ model: 'm', ...over }));
  try {
    const { warnings, request } = catalogueOf(facts).plan(asked, testBuyer);
    return { warnings, resolution: request.kind === 'video' ? request.resolution : undefined };
  } catch (error) {
    if (error instanceof GatewayError) return error.param;
    throw error;
  }
}

describe('facts of a channel’s model', () => {
  it.each<[string, Partial<VideoRequest>, string]>([
    [', facts: { seconds: { min: 2, max: 60 } }', { duration: 60 }, 'duration'],
    [', facts: { ratios: ["2:1"] }', { ratio: '2:1' }, 'ratio'],
    [', facts: { resolutions: [8k] }', { resolution: '8k' }, 'resolution'],
    [', facts: { sound: choice }', { generateAudio: true }, 'metadata.generate_audio'],
    [', facts: { media: { references: 3 } }', { references: ['https://ex.com/a'] }, 'images'],
  ])('%s allow what the table rejects', (facts, over, param) => {
    expect(plan('', over)).toBe(param);
    expect(plan(facts, over)).toMatchObject({ warnings: [] });
  });

  it('decide what callers are warned about', () => {
    const over = { extra: { theirs: 1, motion: 2 }, returnLastFrame: true } as const;
    expect(plan('', over)).toMatchObject({ warnings: ['metadata.return_last_frame'] });
    const facts = ', facts: { other_parameters: false, parameters: { motion: { type: integer } } }';
    expect(plan(facts, over)).toMatchObject({
      warnings: ['metadata.return_last_frame', 'metadata.theirs'],
    });
    expect(plan(facts, { extra: { motion: 'much' } })).toBe('metadata.motion');
  });

  it('are shown to callers once, only under our names', () => {
    const catalogue = catalogueOf(', facts: { parameters: { motion: { max: 3, sent_as: motionScore } } }');
    const [model] = catalogue.current().models;
    if (model === undefined) throw new Error('no model');
    const shown = catalogue.offered(model, testBuyer).facts;
    expect(shown).toMatchObject([
      { media: { frames: 1 }, seconds: { min: 2, max: 10 }, parameters: { motion: { max: 3 } } },
    ]);
    const [facts] = shown;
    expect(offeredFactsSchema.parse(facts)).toEqual(facts);
    expect(JSON.stringify(facts)).not.toMatch(/promptText|runway|motionScore|unsaid/);
    expect(facts?.cases).not.toHaveLength(0);
    expect(catalogue.offered(model, { account: 'a', key: 'k', channels: ['two'] }).facts).toEqual(shown);
    expect(catalogue.offered(model, { account: 'a', key: 'k', channels: ['off'] }).facts).toEqual([]);
  });

  it('are shown without names that a caller can never send', () => {
    const parameters = '{ barred: { values: [] }, sometimes: { values: [] }, always: {} }';
    const cases =
      '[{ when: { draft: true }, facts: { parameters: { sometimes: {}, barred: { values: [] } } } }]';
    const catalogue = catalogueOf(`, facts: { parameters: ${parameters}, cases: ${cases} }`);
    const [model] = catalogue.current().models;
    if (model === undefined) throw new Error('no model');
    const [facts] = catalogue.offered(model, testBuyer).facts;
    expect(facts?.parameters).toMatchObject({ sometimes: { values: [] }, always: {} });
    expect(facts?.cases?.at(-1)?.facts).toEqual({ parameters: { sometimes: {} } });
    expect(JSON.stringify(facts)).not.toContain('barred');
  });

  it('are refused with their path', () => {
    expect(() => plan(', facts: { seconds: { most: 3 } }', {})).toThrow(
      'channels[0].models.m.facts.seconds.most: is not a known key',
    );
  });

  it('reach the adapter, which sends what they list', async () => {
    const config = configOf(', facts: { sound: choice, parameters: { motion: { sent_as: motionScore } } }');
    const upstream = canned({ json: fixture('runway/created') });
    const links = { check: () => undefined, onWithheld: () => undefined };
    const channel = createChannels({
      current: () => config,
      providers,
      requestOf: () => upstream.request,
      links,
    })('one');
    const request = videoRequest({ generateAudio: true, extra: { motion: 2 } });
    const context = channel?.context('a', 'm', AbortSignal.timeout(60_000));
    await channel?.provider.video?.submit(request, submitContext(context));
    expect(upstream.sent[0]?.json).toMatchObject({ audio: true, motionScore: 2 });
    expect(upstream.sent[0]?.json).not.toHaveProperty('motion');
  });
});

describe('facts of an image model', () => {
  const served = (facts: string, provider = 'xai', upstream = 'grok-imagine-image') => {
    const config = parseGatewayConfig(
      `
currency: USD
channels:
  - id: one
    provider: ${provider}
    base_url: https://upstream.example
    credentials: [{ id: a, api_key: k }]
    models: { m: { upstream: ${upstream}${facts} } }
models: [{ id: m, kind: image, n: { max: 20 }, price: { lines: [{ measure: image, price: "1" }] } }]
`,
      'gateway.yaml',
      { environment: {}, providerNames: Object.keys(providers) },
    );
    return createCatalogue({ current: () => config, providers, random: () => 0 });
  };
  const refused = (facts: string, over: Partial<ImageRequest>) => {
    try {
      served(facts).plan(imageRequest({ model: 'm', ...over }), testBuyer);
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError) return error.param;
      throw error;
    }
  };

  it.each<[string, Partial<ImageRequest>, string]>([
    [', facts: { sizes: { only: [4K] } }', { size: '4K' }, 'size'],
    [', facts: { qualities: [high] }', { quality: 'high' }, 'quality'],
    [
      ', facts: { references: { max: 9 } }',
      { images: Array.from({ length: 9 }, () => ({ form: 'url', url: 'https://ex.com/a' })) },
      'image',
    ],
  ])('%s allow what the table rejects', (facts, over, param) => {
    expect(refused('', over)).toBe(param);
    expect(refused(facts, over)).toBeUndefined();
  });

  const warned = (vendor: readonly [string, string], over: Partial<AskedImages>, facts = '') =>
    served(facts, ...vendor).plan({ ...imageRequest({ model: 'm' }), ...over }, testBuyer).warnings;

  it.each<[vendor: [string, string], over: Partial<AskedImages>, warnings: string[]]>([
    [
      ['kling', 'kling-v2-1'],
      { extra: { seed: 7, image_fidelity: 0.5 }, quality: 'high' },
      ['quality', 'seed'],
    ],
    [['luma', 'uni-1'], { extra: { seed: 7, style: 'manga' }, size: '2K' }, ['seed']],
    [['openai', 'gpt-image-1.5'], { extra: { seed: 7, user: 'u' }, quality: 'low' }, ['seed']],
    [
      ['openai', 'gpt-image-2'],
      { extra: { complexity: 'low', input_fidelity: 'high' } },
      ['complexity', 'input_fidelity'],
    ],
    [['openai', 'gpt-image-2.5-flare'], { extra: { complexity: 'low' }, quality: 'xhigh' }, []],
    [['openai', 'a-model-of-tomorrow'], { extra: { seed: 7 } }, ['seed']],
    [['ark', 'doubao-seedream-4-0'], { extra: { background: 'opaque', watermark: true } }, ['background']],
    [['gateway', 'any'], { extra: { any: 1, partial_images: 2 }, quality: 'x' }, ['partial_images']],
  ])('%j warn about what is not sent: %j', (vendor, over, warnings) => {
    expect(warned(vendor, over)).toEqual(warnings);
  });

  it('warn about an unsent field with any value, and decide what is sent', async () => {
    const image: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'UE5H' };
    const over = { size: '7x7', images: [image], extra: { strength: 0.5 } };
    expect(warned(['stability', 'ultra'], over)).toEqual(['size']);
    const facts = ', facts: { fields: { quality: true }, parameters: { seed: {} } }';
    expect(warned(['kling', 'kling-v2-1'], { quality: 'high', extra: { seed: 7 } }, facts)).toEqual([]);
  });

  it('name fields as the caller wrote them, and only some of many', () => {
    const named = { seed: 'metadata.seed', aspect_ratio: 'metadata.aspect_ratio' };
    expect(warned(['openai', 'gpt-image-1.5'], { extra: { seed: 7 }, named })).toEqual(['metadata.seed']);
    const google = served('', 'google', 'gemini-3-pro-image');
    expect(() =>
      google.plan({ ...imageRequest({ model: 'm', extra: { aspect_ratio: '7:1' } }), named }, testBuyer),
    ).toThrow(expect.objectContaining({ param: 'metadata.aspect_ratio' }));
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`${index}${'x'.repeat(90)}`, 1]),
    );
    const names = warned(['openai', 'gpt-image-1.5'], { extra: many });
    expect([names.length, Math.max(...names.map((name) => name.length))]).toEqual([20, 64]);
  });

  it('are shown to callers only under our names', () => {
    const catalogue = served(', facts: { qualities: [high], parameters: { mood: { sent_as: vibe } } }');
    const [model] = catalogue.current().models;
    if (model === undefined) throw new Error('no model');
    const [facts] = catalogue.offered(model, testBuyer).facts;
    expect(facts).toMatchObject({
      qualities: ['high'],
      references: { max: 5, mask: false },
      sizes: { classes: { '1k': 1024 ** 2 } },
      parameters: { mood: {} },
    });
    expect(offeredFactsSchema.parse(facts)).toEqual(facts);
    expect(JSON.stringify(facts)).not.toMatch(/vibe|per_call|reserved/);
  });

  it('do not contain facts of videos', () => {
    expect(() => served(', facts: { seconds: { max: 3 }, qualities: [high] }')).toThrow(
      /^(?!.*qualities)[^]*channels\[0\]\.models\.m\.facts\.seconds: does not apply to an image model/,
    );
    expect(() => catalogueOf(', facts: { sizes: { only: [auto] } }')).toThrow(
      'channels[0].models.m.facts.sizes: does not apply to a video model',
    );
  });

  it('reach the adapter, which sends what they list', async () => {
    const upstream = canned({ json: { data: [{ url: 'https://ex.com/a.png' }] } });
    const context = {
      model: 'grok-imagine-image',
      request: upstream.request,
      facts: { sizes: { only: ['4k'] }, parameters: { mood: { sent_as: 'vibe' } } },
    };
    const request = imageRequest({ size: '4K', extra: { mood: 'calm', other: 1 } });
    await providers['xai']?.image?.generate(request, providerContext(context));
    expect(upstream.sent[0]?.json).toMatchObject({ resolution: '4k', vibe: 'calm' });
    expect(upstream.sent[0]?.json).not.toHaveProperty('other');
  });
});
