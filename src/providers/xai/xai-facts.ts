import type { VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';

export const xaiSoundsMax = 3;

const schemes = ['https', 'http', 'data'];
const resolutions = ['480p', '720p'];
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'];

const reserved = [
  'model',
  'prompt',
  'image',
  'last_frame',
  'reference_images',
  'video',
  'duration',
  'aspect_ratio',
  'resolution',
  'generate_audio',
  'storage_options',
  'output',
  'n',
  'user',
];

/**
 * An edit or extension uses one video and keeps its shape and sound, at no more than 720p. An edit also keeps the
 * length. An extension adds the requested seconds.
 */
function ofVideo(tasks: string[]): NonNullable<VideoFacts['cases']> {
  return [
    {
      when: { brings: ['videos'] },
      facts: {
        media: { references: 0, audios: 0 },
        prompt: { wordless: [] },
        sound: 'always',
        fields: { resolution: false, ratio: false, duration: false },
        parameters: {
          video_task: { values: tasks, read: true },
          keyframes: { values: [] },
          reference_audios: { values: [] },
        },
        unsaid: { resolutions: ['720p', '480p'], seconds: { min: 1, max: 9, as_input: true } },
      },
    },
    {
      when: { brings: ['videos'], metadata: { video_task: 'extend' } },
      facts: {
        seconds: { min: 2, max: 10 },
        fields: { duration: true, safety_identifier: false },
        unsaid: { seconds: { min: 6, max: 6 } },
      },
    },
  ];
}

const usual: VideoFacts = {
  fields: { resolution: true, ratio: true, duration: true, generate_audio: true, safety_identifier: true },
  // `video_task` is our own name: `edit` (the default) or `extend`. `reference_audios` is a list of vendor voices,
  // `{voice_id}`. The request's audio files are sent before them.
  parameters: { video_task: { values: [], read: true }, reference_audios: { type: 'list' } },
  reserved,
  other_parameters: true,
  unsaid: { resolutions: ['480p'], seconds: { min: 8, max: 8 } },
  cases: ofVideo(['edit', 'extend']),
};

const first: VideoFacts = {
  ...usual,
  media: { frames: 1, references: 7, videos: 1, audios: 0 },
  input_seconds: 15,
  prompt: { wordless: ['first_frame', 'references'] },
  addresses: { images: schemes, videos: schemes },
  resolutions,
  ratios,
  seconds: { min: 1, max: 15 },
  sound: 'choice',
  parameters: {
    ...usual.parameters,
    keyframes: { values: [] },
    reference_audios: { values: [] },
  },
  cases: [
    { when: { brings: ['first_frame', 'references'] }, facts: { ratios: [...ratios, 'adaptive'] } },
    ...ofVideo(['edit', 'extend']),
  ],
};

const later: VideoFacts = {
  ...first,
  media: { ...first.media, frames: 2, audios: xaiSoundsMax },
  addresses: { ...first.addresses, audios: schemes },
  resolutions: [...resolutions, '1080p'],
  // `keyframes` are images within the video: `[{ image: { url }, timestamp_s }]`, at most four.
  parameters: { ...usual.parameters, keyframes: { type: 'list' } },
  cases: [
    { when: { brings: ['first_frame', 'references'] }, facts: { ratios: [...ratios, 'adaptive'] } },
    { when: { brings: ['references', 'audios'] }, facts: { resolutions } },
    { when: { metadata: { reference_audios: 'any' } }, facts: { resolutions } },
    ...ofVideo(['edit']),
  ],
};

export const xaiFacts: FactsTable = {
  origin: {
    source: 'the vendor’s page on each model, xai-sdk 1.21.0, @ai-sdk/xai 5.0.12',
    read: '2026-11-28',
  },
  models: [
    [/^grok-imagine-video$/, first],
    [
      /^grok-imagine-video-1\.5.*-lite$/,
      {
        ...later,
        media: { ...first.media, references: 0 },
        addresses: first.addresses,
        parameters: first.parameters,
      },
      { source: 'the vendor’s page on the model', read: '2026-11-28' },
    ],
    [/^grok-imagine-video-1\.5/, later],
  ],
  others: { ...usual, media: { videos: 1 } },
};
