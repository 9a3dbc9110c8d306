import { describe, expect, it } from 'vitest';
import { optionalFields } from '../../src/models/consumption.ts';
import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { consumedBy, submissionOf, videoIssue, videoRequest } from './support.ts';

/** What an adapter says that it uses is what changes the body that it sends. */

const mapping = fieldMappingSchema.parse({
  fields: {
    prompt: 'prompt',
    duration: 'seconds',
    first_frame: 'image',
    watermark: 'mark',
    safety_identifier: { name: 'user', inputs: ['first_last_frame'] },
  },
  pass: ['theirs'],
  result: 'output',
});
const firstFrame = 'data:image/png;base64,Rmlyc3Q=';
const frame: Partial<VideoRequest> = { firstFrame };
const edit: Partial<VideoRequest> = { videos: ['https://ex.com/a.mp4'], extra: { video_task: 'edit' } };

const rows: readonly (readonly [provider: string, model: string, request: Partial<VideoRequest>])[] = [
  ['ark', 'seedance-2-0', {}],
  ['ark', 'seedance-2-5', {}],
  ['ark', 'seedance-2-5', { videos: ['https://ex.com/a.mp4'], extra: { video_task: 'edit' } }],
  ['ark', 'seedance-1-5-pro', {}],
  ['ark', 'seedance-1-5-pro', { draft: true }],
  ['ark', 'seedance-1-0-pro', {}],
  ['ark', 'seedance-1-0-pro', { extra: { frames: 57 } }],
  ['ark', 'ep-20260101-abcde', { extra: { frames: 57 } }],
  ['bfl', 'flux-3-video', {}],
  ['dashscope', 'wan3.0-video', {}],
  ['dashscope', 'wan2.6-i2v', frame],
  ['dashscope', 'wan2.2-t2v-plus', {}],
  ['dashscope', 'wan2.6-t2v', { resolution: '480p' }],
  ['dashscope', 'a-model-of-tomorrow', {}],
  ['fal', 'owner/app', {}],
  ['fal', 'owner/app', frame],
  ['replicate', 'owner/name', {}],
  ['replicate', 'owner/name', frame],
  ['gateway', 'any', {}],
  ['google', 'gemini-omni-flash', {}],
  ['google', 'gemini-omni-flash', edit],
  ['google', 'gemini-omni-flash', { ...edit, extra: { video_task: 'upscale' } }],
  ['google', 'gemini-omni-of-tomorrow', {}],
  ['google', 'veo-3.1-generate-preview', {}],
  ['google', 'veo-3.1-generate-preview@gs://bucket', {}],
  ['google', 'veo-3.1-lite-generate-preview', {}],
  ['google', 'veo-of-tomorrow', {}],
  ['google', 'veo-of-tomorrow@gs://bucket', { firstFrame }],
  ['kling', 'kling-3.0', {}],
  ['kling', 'kling-3.0', frame],
  ['kling', 'kling-3.0-omni', edit],
  ['kling', 'kling-3.0-omni', { videos: ['https://ex.com/a.mp4'] }],
  ['kling', 'kling-2.6', {}],
  ['kling', 'kling-2.6', { resolution: '1080p' }],
  ['kling', 'kling-3.0-turbo', {}],
  ['kling', 'kling-3.0', { ...edit, references: [firstFrame], extra: { character_orientation: 'video' } }],
  ['kling', 'kling-v2-6', {}],
  ['kling', 'kling-v1-6', frame],
  ['kling', 'kling-video-o1', edit],
  ['kling', 'kling-of-tomorrow', { references: [firstFrame] }],
  ['luma', 'ray-3.2', {}],
  ['luma', 'ray-3.2', edit],
  ['luma', 'ray-3.2', { ...edit, extra: { video_task: 'reframe' } }],
  ['minimax', 'MiniMax-H3', {}],
  ['minimax', 'MiniMax-H3', frame],
  ['minimax', 'MiniMax-Hailuo-2.3', {}],
  ['minimax', 'MiniMax-Hailuo-2.3', frame],
  ['minimax', 'S2V-01', { references: [firstFrame] }],
  ['minimax', 'a-model-of-tomorrow', {}],
  ['openrouter', 'some/model', {}],
  ['runway', 'veo3.1', {}],
  ['runway', 'seedance2_5', {}],
  ['runway', 'aleph2', edit],
  ['runway', 'seedance2_5', edit],
  ['runway', 'seedance2_5', { ...edit, extra: { video_task: 'extend' } }],
  ['runway', 'happyhorse_1_0', frame],
  ['runway', 'wan3', frame],
  ['runway', 'gen4.5', {}],
  ['runway', 'hailuo3', {}],
  ['runway', 'h3_max', {}],
  ['runway', 'a_model_of_tomorrow', {}],
  ['vidu', 'viduq3-pro', {}],
  ['vidu', 'viduq2', {}],
  ['vidu', 'viduq2', frame],
  ['xai', 'grok-imagine-video-1.5', {}],
  ['xai', 'grok-imagine-video-1.5', { audios: ['https://ex.com/a.mp3'] }],
  ['xai', 'grok-imagine-video', edit],
  ['xai', 'grok-imagine-video', { ...edit, extra: { video_task: 'extend' } }],
];

const samples: Partial<
  Record<keyof VideoRequest, readonly (VideoRequest[keyof VideoRequest] | undefined)[]>
> = {
  mode: ['pro'],
  resolution: ['480p', '720p', '768p', '1080p', '2k'],
  ratio: ['16:9', '9:16'],
  duration: [4, 5, 6, 8, 10],
  draft: [true],
  generateAudio: [true, false],
  watermark: [true],
  returnLastFrame: [true],
  seed: [7],
  safetyIdentifier: ['user-1'],
  tools: [[{ type: 'web_search' }]],
};

const bodyOf = async (provider: string, model: string, request: VideoRequest) =>
  submissionOf(providers[provider]?.video, request, { model, mapping });

describe.each(rows)('%s, %s, %j', (provider, model, request) => {
  const video = providers[provider]?.video;
  const consumed = (asked: VideoRequest) =>
    video === undefined ? undefined : consumedBy(video, asked, { upstream: model, mapping });

  it.each(optionalFields)('%s', async (field) => {
    const plain = await bodyOf(provider, model, videoRequest({ ...request, [field]: undefined }));
    const rendered = (samples[field] ?? [])
      .map((value) => videoRequest({ ...request, [field]: value }))
      .filter((asked) => videoIssue(video, asked, model, mapping) === undefined);
    const bodies = await Promise.all(rendered.map((asked) => bodyOf(provider, model, asked)));
    const isSent = bodies.some((body) => body !== plain);
    const [first] = rendered;
    if (first === undefined) return;
    const isConsumed = consumed(first)?.fields.includes(field);
    // Where nothing can be chosen, every other wish is refused: this one comes true anyway.
    const isKept = bodies.length === 1 && (samples[field] ?? []).length > 1;
    expect(isConsumed).toBe(isSent || isKept);
  });

  it.each([
    ['theirs', 'x'],
    ['model', 'x'],
    ['callback_url', 'x'],
    ['negative_prompt', 'x'],
    ['cfg_scale', 0.5],
    ['camera_control', { type: 'simple' }],
    ['fps', 24],
    ['motion_strength', 0.5],
  ])('metadata.%s', async (name, value) => {
    const extra = { ...request.extra, [name]: value };
    const asked = videoRequest({ ...request, extra });
    if (videoIssue(video, asked, model, mapping) !== undefined) return;
    const isSent =
      (await bodyOf(provider, model, asked)) !== (await bodyOf(provider, model, videoRequest(request)));
    expect(consumed(asked)?.metadata(name)).toBe(isSent);
  });
});
