import type { VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';

type Cases = NonNullable<VideoFacts['cases']>;

const elements = { type: 'list', read: true } as const;

/** Frames or an edited video determine the shape. An edit is as long as its video. */
const sent: Cases = [
  { when: { brings: ['first_frame'] }, facts: { fields: { ratio: false } } },
  {
    when: { brings: ['first_frame', 'references', 'videos'] },
    facts: { parameters: { element_list: elements } },
  },
  {
    when: { brings: ['videos'] },
    facts: { parameters: { video_task: { values: ['reference', 'edit'], read: true } } },
  },
  {
    when: { brings: ['videos'], metadata: { video_task: 'edit' } },
    facts: {
      fields: { ratio: false, duration: false },
      unsaid: { seconds: { min: 3, max: 15, as_input: true } },
    },
  },
];

/**
 * A video's motion is transferred to the figure in an image, in the orientation of either the image or the video. The
 * result is as long as the motion.
 */
const moved: Cases = [
  {
    when: { metadata: { character_orientation: 'any' } },
    facts: {
      fields: { ratio: false, duration: false },
      parameters: { character_orientation: { values: ['image', 'video'] } },
      unsaid: { seconds: { min: 3, max: 30, as_input: true } },
    },
  },
  {
    when: { metadata: { character_orientation: 'image' } },
    facts: { unsaid: { seconds: { min: 3, max: 10, as_input: true } } },
  },
];

const usual: VideoFacts = {
  media: { videos: 1, audios: 0, beside_frames: ['references', 'videos'] },
  addresses: { images: ['https', 'http', 'data'], videos: ['https', 'http'] },
  fields: { resolution: true, ratio: true, duration: true, generate_audio: true, watermark: true },
  parameters: {
    video_task: { values: [], read: true },
    element_list: { values: [], read: true },
    // A voice costs extra and no price covers it, so it is rejected.
    voice_list: { values: [] },
  },
  reserved: [
    'model',
    'model_name',
    'prompt',
    'contents',
    'settings',
    'options',
    'resolution',
    'mode',
    'duration',
    'aspect_ratio',
    'ratio',
    'size',
    'audio',
    'sound',
    'image',
    'images',
    'image_tail',
    'image_list',
    'video_list',
    'watermark',
    'watermark_info',
    'callback_url',
    'external_task_id',
    'n',
  ],
  other_parameters: true,
  unsaid: { resolutions: ['720p'], seconds: { min: 5, max: 5 } },
  cases: [...sent, ...moved],
};

const ratios = ['16:9', '9:16', '1:1'];

const third: VideoFacts = {
  ...usual,
  media: { frames: 2, references: 0, videos: 0, audios: 0 },
  prompt: { characters: 3072 },
  resolutions: ['720p', '1080p', '4k'],
  ratios,
  seconds: { min: 3, max: 15 },
  sound: 'choice',
  parameters: { ...usual.parameters, character_orientation: { values: [] } },
  cases: sent,
};
const turbo: VideoFacts = { ...third, resolutions: ['720p', '1080p'], sound: 'always' };
/** The new standard does not document which lengths this model supports, so the vendor decides. */
const second: VideoFacts = { ...turbo, sound: 'never' };
const soundAt1080p: Cases = [...sent, { when: { resolution: ['1080p'] }, facts: { sound: 'choice' } }];
const motionControl: Cases = [
  ...moved,
  {
    when: { metadata: { character_orientation: 'any' } },
    facts: {
      media: { frames: 0, references: 1, videos: 1, needs: ['videos'], accompanied: ['videos'] },
      prompt: { characters: 2500 },
      resolutions: ['720p', '1080p'],
      sound: 'choice',
      parameters: { video_task: { values: ['reference'], read: true }, element_list: { values: [] } },
    },
  },
];

const references = 7;

function withVideo(words: string[]): Cases {
  return [
    ...sent,
    {
      when: { brings: ['videos'] },
      facts: { media: { references: 4 }, ratios: [...words, 'adaptive'] },
    },
    { when: { brings: ['videos'], metadata: { video_task: 'edit' } }, facts: { media: { frames: 0 } } },
  ];
}

const omni: VideoFacts = {
  ...third,
  media: { frames: 2, references, videos: 1, audios: 0, beside_frames: ['videos'] },
  parameters: { ...third.parameters, element_list: elements },
  cases: [
    ...withVideo(ratios),
    // With a reference video, several shots are possible but no sound. An edited video keeps its own sound and has one
    // shot.
    {
      when: { brings: ['videos'] },
      facts: { sound: 'never', parameters: { multi_shot: { values: [true] } } },
    },
    {
      when: { brings: ['videos'], metadata: { video_task: 'edit' } },
      facts: { sound: 'choice', parameters: { multi_shot: { values: [false] } } },
    },
  ],
};
const firstOmni: VideoFacts = {
  ...omni,
  resolutions: ['720p', '1080p'],
  seconds: { min: 3, max: 10 },
  sound: 'never',
};
const fourthRatios = [...ratios, '21:9'];
const fourth: VideoFacts = {
  ...turbo,
  media: { frames: 2, references, videos: 1, audios: 0 },
  prompt: { characters: 26_000 },
  ratios: fourthRatios,
  seconds: { min: 3, max: 30 },
  cases: withVideo(fourthRatios),
};

const prompt = { characters: 2500 };
const legacySecond: VideoFacts = { ...legacy(second), prompt, seconds: { only: [5, 10] } };
const legacyFirst: VideoFacts = {
  ...legacySecond,
  parameters: { ...legacySecond.parameters, cfg_scale: { type: 'number', min: 0, max: 1 } },
};

function legacy(facts: VideoFacts): VideoFacts {
  const parameters = { negative_prompt: { type: 'text' }, camera_control: { type: 'object' } } as const;
  return { ...facts, parameters: { ...facts.parameters, ...parameters } };
}

/** Names with `video`, or with a `v` before the version, belong to the legacy standard. */
export const klingFacts: FactsTable = {
  origin: { source: 'the vendor’s API documentation', read: '2026-09' },
  models: [
    [/^kling-4\.0/, fourth, { source: 'the vendor’s news', read: '2026-10' }],
    [/^kling-3\.0-omni/, omni],
    [/^kling-o1/, firstOmni],
    [/^kling-3\.0-turbo/, turbo],
    [/^kling-3\.0/, { ...third, cases: [...sent, ...motionControl] }],
    [/^kling-2\.6/, { ...second, cases: [...soundAt1080p, ...motionControl] }],
    [/^kling-2\./, second],
    [/^kling-v3-omni/, { ...legacy(omni), prompt }],
    [/^kling-video-o1/, { ...legacy(firstOmni), prompt }],
    [/^kling-v3(?!-?\d)/, { ...legacy(third), prompt }],
    [/^kling-v2-6/, { ...legacySecond, cases: soundAt1080p }],
    [/^kling-v2(?!\d)/, legacySecond],
    [/^kling-v1-6/, { ...legacyFirst, media: { frames: 2, references: 4, videos: 0, audios: 0 } }],
    [/^kling-v1(?!\d)/, legacyFirst],
    [/^kling-v/, { ...legacy(usual), cases: sent }],
  ],
  others: usual,
};
