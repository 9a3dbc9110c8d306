import type { VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';

export const bflResolutions: Readonly<Record<string, string>> = {
  '720p': 'hd',
  hd: 'hd',
  '1080p': 'fhd',
  fhd: 'fhd',
  '1440p': 'qhd',
  qhd: 'qhd',
  '4k': 'uhd',
  uhd: 'uhd',
};
const secondsMin = 5;
const secondsMax = 20;
const continuedSecondsMax = 15;
const keyframesMax = 10;
const schemes = ['https', 'http', 'data'];

const usual: VideoFacts = {
  fields: {
    resolution: true,
    ratio: true,
    duration: true,
    generate_audio: true,
    draft: true,
    safety_identifier: true,
  },
  parameters: {
    keyframe_seconds: { type: 'list', read: true },
    video_task: { values: [], read: true },
  },
  reserved: [
    'model',
    'mode',
    'prompt',
    'keyframes',
    'start_video',
    'duration',
    'aspect_ratio',
    'ratio',
    'resolution',
    'size',
    'generate_audio',
    'draft',
    'draft_cache',
    'user',
    'webhook_url',
    'webhook_secret',
  ],
  other_parameters: true,
  cases: [
    {
      when: { brings: ['videos'] },
      facts: { parameters: { video_task: { values: ['extend'], read: true } } },
    },
  ],
};

const flux3: VideoFacts = {
  ...usual,
  // The model has no references. Images other than the first and last frame appear at times that the caller sets.
  media: { frames: 2, references: 0, videos: 1, audios: 0 },
  addresses: { images: schemes, videos: schemes },
  resolutions: Object.keys(bflResolutions),
  ratios: ['21:9', '2:1', '16:9', '4:3', '1:1', '3:4', '9:16', 'adaptive'],
  seconds: { min: secondsMin, max: secondsMax, auto: true },
  sound: 'choice',
  unsaid: { resolutions: ['720p'], seconds: { min: secondsMin, max: secondsMax } },
  cases: [
    ...(usual.cases ?? []),
    { when: { metadata: { keyframe_seconds: 'any' } }, facts: { media: { references: keyframesMax } } },
    {
      when: { brings: ['videos'] },
      facts: {
        media: { frames: 0, references: 0 },
        seconds: { min: secondsMin, max: continuedSecondsMax, auto: true },
        unsaid: { seconds: { min: secondsMin, max: continuedSecondsMax } },
      },
    },
    { when: { draft: true }, facts: { resolutions: ['720p', 'hd'] } },
  ],
};

/** For other models, the vendor decides. Frames cannot be combined with a video, and audio is not supported. */
export const bflVideoFacts: FactsTable = {
  origin: { source: 'the vendor’s pages on FLUX 3', read: '2026-10' },
  models: [[/^flux-3/, flux3]],
  others: {
    ...usual,
    media: { audios: 0, videos: 1 },
    unsaid: flux3.unsaid,
    cases: [{ when: { brings: ['videos'] }, facts: { media: { frames: 0, references: 0 } } }],
  },
};
