import type { VideoFacts } from '../../models/model-facts.ts';
import { googleRetired } from './google-retired.ts';
import type { FactsTable } from '../../models/facts-table.ts';

/**
 * Shared by both video families. Source: the vendor's pages, 2026-09. On Vertex, the result folder follows the model's
 * name.
 */

const shared: VideoFacts = {
  fields: { resolution: true, ratio: true, duration: true, generate_audio: true },
  other_parameters: false,
};

const omniUsual: VideoFacts = {
  ...shared,
  media: { frames: 1, videos: 1, audios: 0, beside_frames: ['references', 'videos'] },
  sound: 'always',
  parameters: { video_task: { values: [], read: true } },
  reserved: [
    'model',
    'input',
    'background',
    'store',
    'stream',
    'response_format',
    'generation_config',
    'labels',
    'webhook_config',
  ],
  unsaid: { resolutions: ['720p'], seconds: { min: 3, max: 15 } },
  cases: [
    {
      when: { brings: ['videos'] },
      facts: { parameters: { video_task: { values: ['edit', 'extend', 'upscale'], read: true } } },
    },
    {
      when: { brings: ['videos'], metadata: { video_task: 'upscale' } },
      facts: {
        fields: { ratio: false, duration: false },
        unsaid: { resolutions: ['1080p', '720p', '4k'], seconds: { min: 3, max: 15, as_input: true } },
      },
    },
  ],
};
const ratios = ['16:9', '9:16'];
const omni: VideoFacts = {
  ...omniUsual,
  media: { frames: 1, references: 7, videos: 1, audios: 0 },
  resolutions: ['360p', '720p', '1080p', '4k'],
  ratios,
  seconds: { min: 3, max: 15 },
};
const firstOmni: VideoFacts = {
  ...omni,
  seconds: { min: 3, max: 10 },
  unsaid: { ...omni.unsaid, seconds: { min: 3, max: 10 } },
};

const veoUsual: VideoFacts = {
  ...shared,
  media: { videos: 1, audios: 0, beside_frames: ['references', 'videos'] },
  addresses: { images: ['data'] },
  sound: 'always',
  parameters: {
    negative_prompt: { type: 'text', sent_as: 'negativePrompt' },
    person_generation: { type: 'text', sent_as: 'personGeneration' },
    enhance_prompt: { type: 'flag', sent_as: 'enhancePrompt' },
    video_task: { values: [], read: true },
  },
  reserved: [
    'sampleCount',
    'aspectRatio',
    'resolution',
    'durationSeconds',
    'seed',
    'generateAudio',
    'storageUri',
    'pubsubTopic',
  ],
  unsaid: { resolutions: ['720p'], seconds: { min: 4, max: 8 } },
  cases: [
    {
      when: { brings: ['videos'] },
      facts: { parameters: { video_task: { values: ['extend'], read: true } } },
    },
  ],
};
const veo: VideoFacts = {
  ...veoUsual,
  media: { frames: 2, references: 3, videos: 1, audios: 0 },
  resolutions: ['720p', '1080p', '4k'],
  ratios,
  seconds: { only: [4, 6, 8] },
  // A request that extends a video cannot contain images.
  cases: [...(veoUsual.cases ?? []), { when: { brings: ['references'] }, facts: { media: { videos: 0 } } }],
};

/**
 * The Lite models accept frames, but neither references nor a video to extend. Source of the names: the SDK
 * google-genai 3.6.1 (2026-11-28).
 */
const veoLite: VideoFacts = {
  ...veo,
  media: { frames: 2, references: 0, videos: 0, audios: 0 },
  resolutions: ['720p', '1080p'],
  cases: [],
};

const vertexOmni = (facts: VideoFacts): VideoFacts => ({
  ...facts,
  media: { ...facts.media, references: 10 },
});

const vertexVeo = (facts: VideoFacts): VideoFacts => ({
  ...facts,
  addresses: { images: ['data', 'gs'] },
  sound: 'choice',
  fields: { ...facts.fields, seed: true },
  parameters: {
    ...facts.parameters,
    resize_mode: { type: 'text', sent_as: 'resizeMode' },
    compression_quality: { type: 'text', sent_as: 'compressionQuality' },
    fps: { type: 'integer' },
  },
});

const resold = { source: 'resellers’ pages', read: '2026-10' } as const;

export const googleFacts: FactsTable = {
  origin: { source: 'the vendor’s pages on Omni and Veo', read: '2026-09' },
  retired: googleRetired(
    [/^veo-[23]\.0-/, '2026-06-30'],
    [/^gemini-omni-flash-preview/, '2026-09-30'],
    [/^veo-3\.1-.*preview/, '2026-10-22'],
  ),
  models: [
    [/^gemini-omni-(?:flash|1\.[01]).*@gs:/, vertexOmni(firstOmni)],
    [/^gemini-omni-(?:flash|1\.[01])/, firstOmni],
    [/^gemini-omni-1\.2.*@gs:/, vertexOmni(omni)],
    [/^gemini-omni-1\.2/, omni],
    [/^gemini-omni/, omniUsual],
    [/^veo-3\.1-lite.*@gs:/, vertexVeo(veoLite), resold],
    [/^veo-3\.1-lite/, veoLite, resold],
    [/^veo-3\.[01].*@gs:/, vertexVeo(veo)],
    [/^veo-3\.[01]/, veo],
    [/@gs:/, vertexVeo(veoUsual)],
  ],
  others: veoUsual,
};
