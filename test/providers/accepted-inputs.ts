import type { ImageRequest, VideoRequest } from '../../src/models/request.ts';

/** Requests that the adapter and its dialect must treat alike: either both accept a request, or both reject it. */

const a = 'https://ex.com/a.png';
const data = 'data:image/png;base64,iVBORw0KGgo=';
const clip = 'https://ex.com/a.mp4';
const song = 'https://ex.com/a.mp3';
const one: Partial<VideoRequest> = { firstFrame: a };
const two: Partial<VideoRequest> = { firstFrame: a, lastFrame: a };
const mixed: Partial<VideoRequest> = { references: [a], videos: [clip], audios: [song] };
const edit: Partial<VideoRequest> = { videos: [clip], extra: { video_task: 'edit' } };
const extend: Partial<VideoRequest> = { videos: [clip], extra: { video_task: 'extend' } };
const voiced = { reference_audios: [{ voice_id: 'ara' }] };
const link = { form: 'url', url: a } as const;
const inline = { form: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' } as const;

type Expected = object | 'refused';
export type VideoRow = readonly [model: string, asked: Partial<VideoRequest>, expected?: Expected];
export type ImageRow = readonly [model: string, asked: Partial<ImageRequest>, count: number];

export interface VendorInputs {
  /** Below the simulator's base URL. Models whose results are written to a bucket use `bucketPath` instead. */
  readonly path: string;
  readonly bucketPath?: string;
  readonly videos: readonly VideoRow[];
  readonly images?: readonly ImageRow[];
}

const klingCost = (amount: string, durationSeconds: number) => ({
  facts: { durationSeconds },
  cost: { amount, unit: 'video units' },
});
const credits = (amount: string) => ({ cost: { amount, unit: 'credits' } });
const usd = (durationSeconds?: number) => ({
  facts: durationSeconds === undefined ? {} : { durationSeconds },
  cost: { unit: 'USD' },
});
const facts = (durationSeconds: number, resolution: string, ratio?: string) => ({
  facts: { durationSeconds, resolution, ...(ratio === undefined ? {} : { ratio }) },
});

const [pro1, pro15, pro2, pro25] = [
  'doubao-seedance-1-0-pro-250528',
  'doubao-seedance-1-5-pro-251215',
  'doubao-seedance-2-0-260128',
  'doubao-seedance-2-5-260628',
] as const;
const [omni, veo] = ['gemini-omni-1.1-flash', 'veo-3.1-generate-preview'] as const;
const veoLite = 'veo-3.1-lite-generate-preview';
const veoOnVertex = 'veo-3.1-generate-001@gs://bucket/folder';
const [grok, grok15, grokLite] = [
  'grok-imagine-video',
  'grok-imagine-video-1.5',
  'grok-imagine-video-1.5-lite',
] as const;

// prettier-ignore
export const vendorInputs: Readonly<Record<string, VendorInputs>> = {
  ark: {
    path: '/ark/api/v3',
    videos: [
      [pro1, { resolution: '1080p', ratio: '21:9', duration: 12, seed: 7, watermark: true }],
      [pro1, one],
      [pro15, two],
      [pro15, { draft: true }],
      [pro15, { generateAudio: true, duration: 'auto' }],
      [pro1, { generateAudio: false }],
      [pro1, { duration: 5, extra: { frames: 29 } }],
      [pro15, { extra: { service_tier: 'flex' } }],
      [pro2, { tools: { type: 'web_search' } }],
      [pro2, { ...mixed, references: [a, a], duration: 15, ratio: 'adaptive' }],
      [pro25, { resolution: '1080p', ratio: '21:9', duration: 30 }],
      [pro25, { draft: true }],
      [pro25, { ...one, ratio: 'adaptive' }],
      [pro25, { audios: [song] }],
      [pro25, { ...edit, duration: 'auto' }],
      [pro25, { ...extend, duration: 10 }],
      ['doubao-seedance-2-0-mini-260615', { resolution: '720p', ratio: '9:16', duration: 4 }],
      ['dreamina-seedance-2-0-260128', { resolution: '4k' }],
    ],
  },
  bfl: {
    path: '/bfl',
    videos: [
      ['flux-3-video', { duration: 5, safetyIdentifier: 'u' }, credits('85')],
      ['flux-3-video', { duration: 5, resolution: '1080p', ratio: '9:16', generateAudio: false }, credits('145')],
      ['flux-3-video', { duration: 5, draft: true }, credits('30')],
      ['flux-3-video', { ...one, duration: 10 }, credits('170')],
      ['flux-3-video', { ...two, duration: 5, ratio: 'adaptive' }, credits('85')],
      ['flux-3-video', { references: [a, a, a], duration: 5, extra: { keyframe_seconds: [0, 2.5, 5] } }, credits('85')],
      ['flux-3-video', { videos: [clip], duration: 5 }, credits('205')],
    ],
    images: [
      ['flux-2-pro', { images: [link, inline], size: '1024x1024', extra: { seed: 1 } }, 1],
      ['flux-2-max', { extra: { output_format: 'png', safety_tolerance: 5 } }, 1],
      ['flux-2-flex', { extra: { steps: 20, guidance: 3 } }, 1],
      ['flux-2-klein-4b', { images: [link, link, link, link] }, 1],
      ['flux-2-klein-9b', { size: '512x768' }, 1],
      ['flux-kontext-pro', { images: [link], size: '1344x768' }, 1],
      ['flux-kontext-max', {}, 1],
      ['flux-pro-1.1', { images: [link], size: '1440x960' }, 1],
      ['flux-pro-1.1-ultra', { size: '2048x2048', extra: { raw: true } }, 1],
      ['flux-pro-1.0-fill', { images: [inline], mask: inline }, 1],
      ['flux-dev', { size: '1024x768' }, 1],
      ['flux-3-image', { images: [link, inline], size: '1920x1080' }, 1],
      ['flux-3-image', { size: '768sq', extra: { grounding: false } }, 1],
    ],
  },
  /** Vendors with mappings have only the models in gateway.example.yaml. */
  fal: {
    path: '/fal',
    videos: [
      ['fal-seedance-2.0', { resolution: '480p', ratio: '9:16', duration: 7, generateAudio: false, extra: { bitrate_mode: 'high' } }, usd()],
      ['fal-seedance-2.0', {}],
      ['fal-seedance-2.0', { duration: 'auto', ratio: 'adaptive' }],
      ['fal-seedance-2.0', one],
      ['fal-seedance-2.0', two],
      ['fal-seedance-2.0', mixed],
      ['fal-kling-3.0-pro', { resolution: '1080p', ratio: '1:1', duration: 15, extra: { negative_prompt: 'rain' } }],
      ['fal-kling-3.0-pro', { ...two, generateAudio: true }],
    ],
    images: [
      ['fal-flux-2-pro', { size: '1536x1024', extra: { seed: 1, output_format: 'webp' } }, 1],
      ['fal-flux-2-pro', { size: '1024x1024', images: [link] }, 1],
    ],
  },
  google: {
    path: '/google/v1beta',
    bucketPath: '/google/v1/projects/p1/locations/us-central1/publishers/google',
    videos: [
      [omni, { duration: 10, resolution: '1080p', ratio: '9:16' }],
      [omni, { firstFrame: data }],
      [omni, { references: [data, a] }],
      [omni, { videos: [clip] }],
      [omni, { videos: [clip], resolution: '4k', ratio: '16:9', duration: 5, extra: { video_task: 'upscale' } }],
      ['gemini-omni-1.2-flash', extend],
      [`${omni}@gs://bucket/folder`, { duration: 5 }],
      [veo, { duration: 4, extra: { negative_prompt: 'rain', person_generation: 'allow_adult' } }],
      [veo, { firstFrame: data, lastFrame: data, duration: 8 }],
      [veo, { references: [data, data, data], duration: 8 }],
      [veoOnVertex, { duration: 6, seed: 1, generateAudio: false }],
      [veoOnVertex, { firstFrame: data, lastFrame: 'gs://b/a.png', duration: 8 }],
      [veoLite, { duration: 8, resolution: '4k' }, 'refused'],
      [veoLite, { duration: 8, references: [data] }, 'refused'],
      [veoLite, { duration: 8, videos: [clip] }, 'refused'],
    ],
    images: [
      ['gemini-3.1-flash-image', { size: '512' }, 1],
      ['gemini-3.1-flash-lite-image', { size: '1K' }, 1],
      ['gemini-3.1-flash-lite-image', { size: '2K' }, 0],
      ['gemini-nano-banana-2.1', { size: '512' }, 0],
      ['gemini-nano-banana-2.1', { size: '1344x768', images: [inline] }, 1],
    ],
  },
  kling: {
    path: '/kling',
    videos: [
      ['kling-3.0', { resolution: '1080p', duration: 5, generateAudio: true }, klingCost('6.00', 5)],
      ['kling-3.0-turbo', { duration: 3, ratio: '1:1' }, klingCost('1.80', 3)],
      ['kling-2.6', one, klingCost('3.00', 5)],
      ['kling-3.0', { ...two, resolution: '4k' }, klingCost('15.00', 5)],
      ['kling-o1', { references: [a, a], duration: 10 }, klingCost('6.00', 10)],
      ['kling-3.0-omni', { references: [a], videos: [clip] }, klingCost('4.50', 5)],
      ['kling-3.0-omni', { ...edit, generateAudio: true }, klingCost('4.50', 5)],
      ['kling-2.6', { references: [a], videos: [clip], extra: { character_orientation: 'image' } }, klingCost('4.50', 5)],
      ['kling-4.0', { references: [a], duration: 30 }, klingCost('18.00', 30)],
      ['kling-v2-6', { resolution: '1080p', duration: 10 }, klingCost('5', 10)],
      ['kling-v2-1', one, klingCost('1.5', 5)],
      ['kling-v1-6', { references: [a, a] }, klingCost('1.5', 5)],
      ['kling-v3-omni', { references: [a], videos: [clip] }, klingCost('1.5', 5)],
      ['kling-video-o1', two, klingCost('1.5', 5)],
    ],
  },
  luma: {
    path: '/luma/v1',
    videos: [
      ['ray-3.2', { resolution: '1080p', ratio: '21:9', duration: 10, safetyIdentifier: 'u1' }],
      ['ray-3.2', { ...two, duration: 5 }],
      ['ray-3.2', { ...two, duration: 10 }],
      ['ray-3.2', { videos: [clip], resolution: '360p' }],
      ['ray-3.2', { videos: [clip], ratio: '1:1', extra: { video_task: 'reframe' } }],
      ['ray-3.2', { duration: 10, extra: { loop: true } }, 'refused'],
    ],
    images: [
      ['uni-1', { extra: { style: 'film' } }, 0],
      ['uni-1', { extra: { output_format: 'webp' } }, 0],
    ],
  },
  openrouter: {
    path: '/openrouter/api/v1',
    videos: [
      ['bytedance/seedance-2.0', { resolution: '720P', ratio: '9:16', duration: 8, generateAudio: false, seed: 7, safetyIdentifier: 'u1' }, usd()],
      ['bytedance/seedance-2.0', { ...two, resolution: '4k' }, usd()],
      ['bytedance/seedance-2.0', mixed, usd()],
    ],
  },
  vidu: {
    path: '/vidu',
    videos: [
      ['viduq3-pro', { resolution: '1080p', ratio: '9:16', duration: 16, seed: 7, generateAudio: true, watermark: false }, { cost: { unit: 'credits' } }],
      ['viduq3-pro', { ...one, ratio: '16:9', extra: { movement_amplitude: 'small' } }, { cost: { unit: 'credits' } }],
      ['viduq3-pro', two, { cost: { unit: 'credits' } }],
      ['viduq3-pro', { references: [a, data], ratio: '1:1' }, { cost: { unit: 'credits' } }],
    ],
  },
  minimax: {
    path: '/minimax',
    videos: [
      ['MiniMax-H3', {}, facts(5, '768p', '16:9')],
      ['MiniMax-H3', { resolution: '2k', ratio: '9:16', duration: 15 }, facts(15, '2k', '9:16')],
      ['MiniMax-H3-Max', { resolution: '480p' }, facts(5, '480p')],
      ['MiniMax-H3', { firstFrame: data }],
      ['MiniMax-H3', { firstFrame: a, lastFrame: data }],
      ['MiniMax-H3', { ...mixed, references: [a, a], ratio: '1:1' }, facts(5, '768p', '1:1')],
      ['MiniMax-H3-Max', { extra: { extra: { prompt_expansion_mode: 'quality' } } }, facts(5, '768p')],
      ['MiniMax-Hailuo-2.3', { resolution: '1080p', duration: 6 }],
      ['MiniMax-Hailuo-2.3-Fast', { firstFrame: data, duration: 10 }],
      ['MiniMax-Hailuo-02', two],
      ['MiniMax-Hailuo-02', { ...one, resolution: '512p' }],
      ['T2V-01-Director', {}],
      ['I2V-01-live', one],
      ['S2V-01', { references: [a], duration: 6, resolution: '720p' }],
    ],
    images: [
      ['image-01', {}, 1],
      ['image-01', { n: 3, size: '1280x720', extra: { seed: 1, prompt_optimizer: true } }, 3],
      ['image-01', { size: '3:2', responseFormat: 'b64_json' }, 1],
      ['image-01', { images: [inline] }, 1],
    ],
  },
  replicate: {
    path: '/replicate/v1',
    videos: [
      ['replicate-seedance-2.0', { resolution: '480p', ratio: '9:16', duration: 7, generateAudio: false, seed: 1 }],
      ['replicate-seedance-2.0', {}],
      ['replicate-seedance-2.0', { duration: 'auto', ratio: 'adaptive' }],
      ['replicate-seedance-2.0', one],
      ['replicate-seedance-2.0', two],
      ['replicate-seedance-2.0', mixed],
      ['replicate-wan-3-prime', { resolution: '720p', ratio: '16:9', duration: 30, seed: 1, extra: { negative_prompt: 'rain' } }],
    ],
    images: [
      ['replicate-flux-2-pro', { size: '1536x1024', extra: { seed: 1, output_format: 'webp' } }, 1],
      ['replicate-flux-2-pro', { size: '1024x1024', images: [link, link] }, 1],
    ],
  },
  runway: {
    path: '/runway',
    videos: [
      ['gen4.5', { ratio: '9:16', duration: 7, seed: 1 }, credits('140')],
      ['gen4.5', {}, credits('100')],
      ['gen4_turbo', { ...one, ratio: '21:9', duration: 10 }, credits('200')],
      ['veo3', {}, credits('160')],
      ['veo3.1', { ...two, resolution: '1080p', ratio: '9:16', duration: 4, generateAudio: false }, credits('80')],
      ['veo3.1_fast', { ...one, duration: 6, ratio: '16:9' }, credits('120')],
      ['seedance2', { resolution: '480p', ratio: '4:3', duration: 4 }, credits('80')],
      ['seedance2', { resolution: '4k', ratio: '21:9', duration: 4 }, credits('80')],
      ['seedance2', { ...two, resolution: '1080p', duration: 5 }, credits('100')],
      ['seedance2', { ...mixed, duration: 5, ratio: '1:1' }, credits('100')],
      ['seedance2_fast', { ...edit, references: [a], duration: 5, resolution: '720p' }, credits('100')],
      ['seedance2_5', { ...two, duration: 30, resolution: '480p', ratio: '9:16', seed: 4 }, credits('600')],
      ['grok_imagine_1_5', { ...one, resolution: '480p', duration: 1 }, credits('20')],
      ['hailuo3', { resolution: '768p', duration: 5 }, credits('100')],
      ['happyhorse_1_0', { ...one, resolution: '1080p', duration: 3 }],
      ['happyhorse_1_0', { resolution: '1080p', ratio: '4:3', duration: 3 }],
      ['gemini_omni_flash', { duration: 3, ratio: '16:9' }],
      ['gemini_omni_flash', edit],
      ['seedance2_5', { ...extend, duration: 6 }],
      ['aleph2', { ...edit, ratio: '1:1', seed: 3 }],
      ['wan3', { resolution: '480p', ratio: '16:9', duration: 2 }],
    ],
    images: [
      ['gen4_image', { size: '1920x1080', extra: { seed: 1 } }, 1],
      ['gen4_image_turbo', { images: [link] }, 1],
      ['gemini_image3.1_flash', { n: 4 }, 4],
    ],
  },
  xai: {
    path: '/xai/v1',
    videos: [
      [grok, {}, usd(8)],
      [grok15, { resolution: '1080p', ratio: '9:16', duration: 15, generateAudio: false }, usd(15)],
      [grokLite, { firstFrame: data, duration: 5 }, usd(5)],
      [grok15, { firstFrame: a, lastFrame: data, duration: 5 }, usd(5)],
      [grok15, { references: [a, a], extra: voiced, duration: 5 }, usd(5)],
      [grok15, { audios: [song, song], extra: voiced, duration: 5 }, usd(5)],
      [grok15, { extra: { keyframes: [{ image: { url: a }, timestamp_s: 2.5 }] }, duration: 5 }, usd(5)],
      [grok, { videos: [clip], duration: 8, resolution: '480p' }, usd()],
      [grok, { ...extend, duration: 6 }, usd()],
      [grok, { audios: [song] }, 'refused'],
      [grokLite, { audios: [song] }, 'refused'],
      [grokLite, { references: [a] }, 'refused'],
      [grok15, { audios: [song, song, song, song] }, 'refused'],
      [grok15, { audios: [song], resolution: '1080p' }, 'refused'],
    ],
    images: [
      ['grok-imagine-image-2.0', { quality: 'high' }, 1],
      ['grok-imagine-image-2.0', { size: '1280x720', quality: 'low' }, 1],
      ['grok-imagine-image-2.0', { n: 2, responseFormat: 'b64_json' }, 2],
      ['grok-imagine-image-2.0', { images: [inline, link] }, 1],
    ],
  },
};
