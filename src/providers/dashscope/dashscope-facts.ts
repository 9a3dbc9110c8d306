import type { MediaFacts, VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { wanModels, type WanModel } from './dashscope-models.ts';

/** Pixel sizes by resolution and ratio. Source: the vendor's list of common sizes. */
export const videoSizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480p': { '16:9': '832x480', '9:16': '480x832', '1:1': '624x624' },
  '720p': { '16:9': '1280x720', '9:16': '720x1280', '1:1': '960x960', '4:3': '1088x832', '3:4': '832x1088' },
  '1080p': {
    '16:9': '1920x1080',
    '9:16': '1080x1920',
    '1:1': '1440x1440',
    '4:3': '1632x1248',
    '3:4': '1248x1632',
  },
};
const secondsMax = 30;
/** The longest total length of the input videos. They cost as much per second as rendered ones. */
const inputSecondsMax = 15;

const videoCases: NonNullable<VideoFacts['cases']> = [
  {
    when: { brings: ['videos'] },
    facts: { parameters: { video_task: { values: ['reference'], read: true } } },
  },
];
const usual: VideoFacts = {
  fields: {
    resolution: true,
    ratio: true,
    duration: true,
    generate_audio: true,
    watermark: true,
    seed: true,
  },
  parameters: { negative_prompt: { type: 'text' }, video_task: { values: [], read: true } },
  reserved: [
    'model',
    'input',
    'parameters',
    'prompt',
    'img_url',
    'first_frame_url',
    'last_frame_url',
    'audio_url',
    'reference_url',
    'reference_urls',
    'reference_video_urls',
    'media',
    'callback_url',
    'safety_identifier',
    'execution_expires_after',
    'size',
    'resolution',
    'ratio',
    'duration',
    'seed',
    'watermark',
    'audio',
    'n',
  ],
  other_parameters: true,
  cases: videoCases,
};

/** Older models default to 720p, newer ones to 1080p. Source: the vendor's parameter tables. */
const resolutionsUnsaid = ['720p', '1080p'];
const secondsUnsaid = 5;

function factsOf(model: WanModel): VideoFacts {
  const { shape, resolutions, seconds, generatesAudio } = model;
  const media = mediaOf(model);
  const isOpen = shape === 'resolution';
  return {
    ...usual,
    media,
    resolutions: [...resolutions],
    ...(isOpen ? {} : { ratios: ratiosOf('1080p'), shapes: shapesOf(resolutions) }),
    seconds,
    sound: generatesAudio ? 'choice' : 'never',
    seed: { min: 0, max: 2_147_483_647 },
    fields: { ...usual.fields, ratio: !isOpen },
    unsaid: {
      resolutions: resolutionsUnsaid,
      seconds: { min: secondsUnsaid, max: secondsUnsaid },
      ...(isOpen ? { open_ratio: true } : {}),
    },
    input_seconds: inputSecondsMax,
    input_seconds_reported: true,
    // 480p has its own ratios. If a size does not exist, the vendor picks another size and bills that.
    cases: [
      ...(media.videos === 0 ? [] : videoCases),
      ...(shape === 'size' ? [{ when: { resolution: ['480p'] }, facts: { ratios: ratiosOf('480p') } }] : []),
    ],
  };
}

/** Frames and references exclude each other. */
function mediaOf({ kind, lastFrame, references, audios }: WanModel): MediaFacts {
  const none = { frames: 0, references: 0, videos: 0, audios: 0 };
  const listed = references === undefined ? {} : { references: references.images, videos: references.videos };
  switch (kind) {
    case 't2v':
      return { ...none, audios };
    case 'i2v':
      return {
        ...none,
        frames: lastFrame ? 2 : 1,
        audios,
        beside_frames: ['audios'],
        needs: ['first_frame'],
      };
    case 'kf2v':
      return { ...none, frames: 2, needs: ['last_frame'] };
    case 'r2v':
      return {
        frames: 0,
        audios,
        ...listed,
        // Images and videos share one limit.
        ...(references === undefined ? {} : { total: references.images }),
        needs: ['references', 'videos'],
      };
    case 'any':
      return { frames: 2, audios, ...listed };
    default:
      return kind satisfies never;
  }
}

function shapesOf(resolutions: readonly string[]): VideoFacts['shapes'] {
  return Object.fromEntries(Object.entries(videoSizes).filter(([name]) => resolutions.includes(name)));
}

function ratiosOf(resolution: string): string[] {
  return [...Object.keys(videoSizes[resolution] ?? {}), 'adaptive'];
}

export const dashscopeFacts: FactsTable = {
  origin: { source: 'the vendor’s parameter tables', read: '2026-11' },
  models: wanModels.map(([name, model]) => [name, factsOf(model)]),
  others: {
    ...usual,
    input_seconds: inputSecondsMax,
    input_seconds_reported: true,
    unsaid: { resolutions: resolutionsUnsaid, seconds: { min: 2, max: secondsMax } },
  },
};
