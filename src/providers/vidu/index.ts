import {
  cancelVidu,
  findVidu,
  listVidu,
  submitVidu,
  viduBalance,
  viduPageSize,
  viduStatus,
} from './vidu-job.ts';
import { parseViduCallback, verifyViduCallback } from './vidu-callback.ts';
import { defined } from '../../base/defined.ts';
import { imagesOf } from '../../models/media-roles.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import type { Provider, SubmitContext, VideoProvider } from '../provider.ts';

const usualRatios = ['16:9', '9:16', '1:1'];

/** Frames determine the ratio, and the vendor rejects any other ratio. */
const usual: VideoFacts = {
  media: { frames: 2, references: 7, videos: 0, audios: 0 },
  prompt: { characters: 5000, wordless: ['first_frame'] },
  addresses: { images: ['https', 'http', 'data'] },
  fields: {
    resolution: true,
    ratio: true,
    duration: true,
    seed: true,
    watermark: true,
    generate_audio: true,
  },
  // `off_peak` is reserved because it changes the price.
  reserved: [
    'model', 'prompt', 'images', 'subjects', 'videos', 'duration', 'resolution', 'aspect_ratio', 'seed', 'audio',
    'watermark', 'payload', 'callback_url', 'off_peak',
  ], // prettier-ignore
  other_parameters: true,
  cases: [{ when: { brings: ['first_frame'] }, facts: { fields: { ratio: false } } }],
};
const q2: VideoFacts = {
  ...usual,
  resolutions: ['360p', '540p', '720p', '1080p'],
  ratios: [...usualRatios, '4:3', '3:4'],
  seconds: { min: 1, max: 10 },
  sound: 'never',
  unsaid: { resolutions: ['720p'], seconds: { min: 5, max: 5 } },
};
const older: VideoFacts = {
  ...usual,
  resolutions: ['360p', '720p', '1080p'],
  ratios: usualRatios,
  seconds: { only: [4, 8] },
  sound: 'never',
  unsaid: { resolutions: ['720p', '360p'], seconds: { min: 4, max: 4 } },
};
const q1: VideoFacts = {
  ...older,
  resolutions: ['1080p'],
  seconds: { only: [5] },
  unsaid: { resolutions: ['1080p'], seconds: { min: 5, max: 5 } },
};

const viduFacts: FactsTable = {
  origin: { source: 'the vendor’s parameter tables', read: '2026-11' },
  models: [
    [/^viduq3/, { ...q2, seconds: { min: 1, max: 16 }, sound: 'choice' }],
    [/^viduq2/, q2],
    [/^viduq1/, q1],
    [/^vidu[12]\./, older],
  ],
  others: { ...usual, seconds: { min: 1, max: 3600 } },
};

function pathOf({ firstFrame, lastFrame, references }: VideoRequest): string {
  if (references.length > 0) return 'reference2video';
  if (firstFrame === undefined) return 'text2video';
  return lastFrame === undefined ? 'img2video' : 'start-end2video';
}

function build(request: VideoRequest, context: SubmitContext): JsonObject {
  const { model, marker, callbackUrl } = context;
  const { prompt, duration, resolution, ratio, seed, generateAudio, watermark, firstFrame } = request;
  const images = imagesOf(request);
  const facts = readFacts(request, viduFacts, context);
  // Only models with a choice of sound have the sound field.
  const isSilent = facts.sound === 'never';
  return {
    ...passedOn(request, facts),
    model,
    ...defined({
      prompt: prompt === '' ? undefined : prompt,
      images: images.length === 0 ? undefined : [...images],
      duration: duration === 'auto' ? undefined : duration,
      resolution: resolution?.toLowerCase(),
      aspect_ratio: firstFrame === undefined ? ratio : undefined,
      seed,
      audio: isSilent ? undefined : generateAudio,
      watermark,
      callback_url: callbackUrl,
    }),
    payload: marker,
  };
}

/**
 * Vidu videos from text, frames and references. The operation is `{id}`. Images, templates, storyboards, extensions,
 * subjects with voices, and the cheaper off-peak jobs (`off_peak`) are not supported.
 */
const video: VideoProvider = {
  cancelUntil: 'queued',
  listMax: viduPageSize,
  facts: viduFacts,
  submit: async (request, context) => submitVidu(pathOf(request), build(request, context), context),
  status: viduStatus,
  cancel: cancelVidu,
  list: listVidu,
  find: findVidu,
  parseCallback: parseViduCallback,
  verifyCallback: verifyViduCallback,
};

export const vidu: Provider = {
  about: {
    vendor: 'Vidu',
    inputs:
      'text; a first frame, or a first and a last frame; up to 7 reference images. A lost job is found by its `payload`, which requires reading each job',
    costUnit: 'credits',
    unverified: [
      'which jobs can be cancelled, and whether their credits are returned: the documentation covers only off-peak jobs, which the adapter does not use',
      'whether a failed job is billed',
      'how the list query separates multiple ids',
    ],
  },
  video,
  balance: viduBalance,
};
