import type { VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';

const usual: VideoFacts = {
  addresses: {
    images: ['https', 'http', 'data'],
    videos: ['https', 'http', 'data'],
    audios: ['https', 'http', 'data'],
  },
  reserved: [
    'model',
    'content',
    'prompt',
    'resolution',
    'duration',
    'ratio',
    'callback_url',
    'aigc_watermark',
    'first_frame_image',
    'last_frame_image',
    'subject_reference',
    'base_video',
    'source_task_id',
  ],
  parameters: { video_task: { values: [], read: true } },
  other_parameters: true,
};

const asReference: NonNullable<VideoFacts['cases']> = [
  {
    when: { brings: ['videos'] },
    facts: { parameters: { video_task: { values: ['reference'], read: true } } },
  },
];

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/** In v2, a request that contains only text must specify a ratio. With frames, the frames determine the ratio. */
const h3: VideoFacts = {
  ...usual,
  media: { frames: 2, references: 9, videos: 3, audios: 3, total: 12, accompanied: ['audios'] },
  input_seconds: 15,
  input_seconds_reported: true,
  prompt: { characters: 7000, wordless: [] },
  resolutions: ['768p', '2k'],
  ratios,
  seconds: { min: 4, max: 15 },
  sound: 'always',
  fields: { resolution: true, ratio: true, duration: true, generate_audio: true, watermark: true },
  unsaid: { resolutions: ['768p'], seconds: { min: 5, max: 5 } },
  cases: [
    ...asReference,
    { when: { brings: ['first_frame'] }, facts: { fields: { ratio: false } } },
    { when: { brings: ['references', 'videos'] }, facts: { ratios: [...ratios, 'adaptive'] } },
  ],
};

const noMedia = { frames: 0, references: 0, videos: 0, audios: 0 } as const;

/** v1 has no ratio field. It renders text in 16:9, and frames determine the ratio. */
const hailuo: VideoFacts = {
  ...usual,
  media: { ...noMedia, frames: 1 },
  prompt: { characters: 2000, wordless: ['first_frame', 'references'] },
  resolutions: ['768p', '1080p'],
  ratios: ['16:9'],
  seconds: { only: [6, 10] },
  sound: 'never',
  fields: { resolution: true, ratio: true, duration: true, generate_audio: true },
  unsaid: { resolutions: ['768p', '1080p'], seconds: { min: 6, max: 10 } },
  cases: [
    { when: { brings: ['first_frame', 'references'] }, facts: { fields: { ratio: false } } },
    { when: { resolution: ['1080p'] }, facts: { seconds: { only: [6] } } },
  ],
};

const first: VideoFacts = {
  ...hailuo,
  media: noMedia,
  resolutions: ['720p'],
  seconds: { only: [6] },
  unsaid: { resolutions: ['720p'], seconds: { min: 6, max: 6 } },
};

/** Models with unknown names are treated like the newest model, and the vendor decides what they can render. */
export const minimaxFacts: FactsTable = {
  origin: { source: 'the vendor’s parameter tables', read: '2026-09' },
  models: [
    [/^MiniMax-H3-Max/i, { ...h3, resolutions: ['768p', '480p'], seconds: { min: 5, max: 15 } }],
    [/^MiniMax-H3/i, h3],
    [/^MiniMax-Hailuo-2\.3-Fast/i, { ...hailuo, media: { ...noMedia, frames: 1, needs: ['first_frame'] } }],
    [
      /^MiniMax-Hailuo-02/i,
      {
        ...hailuo,
        media: { ...noMedia, frames: 2 },
        unsaid: { resolutions: ['768p', '512p', '1080p'], seconds: { min: 6, max: 10 } },
        cases: [
          ...(hailuo.cases ?? []),
          { when: { brings: ['first_frame'] }, facts: { resolutions: ['768p', '512p', '1080p'] } },
        ],
      },
    ],
    [/^MiniMax-Hailuo/i, hailuo],
    [/^T2V-/i, first],
    [/^I2V-/i, { ...first, media: { ...noMedia, frames: 1, needs: ['first_frame'] } }],
    [/^S2V-/i, { ...first, media: { ...noMedia, references: 1, needs: ['references'] } }],
  ],
  others: {
    ...usual,
    prompt: { wordless: [] },
    fields: { ...h3.fields, generate_audio: false },
    unsaid: h3.unsaid,
    input_seconds_reported: true,
    cases: asReference,
  },
};

export function minimaxVersion(name: string): 1 | 2 {
  return /^(?:MiniMax-Hailuo|[TIS]2V-)/i.test(name) ? 1 : 2;
}

export function isFixedMinimax(name: string): boolean {
  return /^S2V-/i.test(name);
}
