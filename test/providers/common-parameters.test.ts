import { describe, expect, it } from 'vitest';
import { commonParameters } from '../../src/models/model-facts.ts';
import type { JsonObject } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { canned, consumedBy, submitContext, videoIssue, videoRequest } from './support.ts';

/** What several vendors have is asked for by one name at all of them; where a model lacks it, the caller is warned. */

const values = {
  negative_prompt: 'rain',
  cfg_scale: 0.25,
  camera_control: { type: 'simple' },
  fps: 23,
  motion_strength: 0.75,
} as const satisfies JsonObject;
const names = ['negative_prompt', 'cfg_scale', 'camera_control', 'fps', 'motion_strength'] as const;

/** By our names, the vendor's. */
type Mapping = Partial<Record<(typeof names)[number], string>>;

const rows: readonly (readonly [provider: string, model: string, sent: Mapping])[] = [
  ['bfl', 'flux-3-video', {}],
  ['gateway', 'any', Object.fromEntries(names.map((name) => [name, name]))],
  ['google', 'gemini-omni-flash', {}],
  ['google', 'veo-3.1-generate-preview', { negative_prompt: 'negativePrompt' }],
  ['google', 'veo-3.1-generate-001@gs://bucket', { negative_prompt: 'negativePrompt', fps: 'fps' }],
  ['kling', 'kling-3.0', {}],
  [
    'kling',
    'kling-v1-6',
    { negative_prompt: 'negative_prompt', cfg_scale: 'cfg_scale', camera_control: 'camera_control' },
  ],
  ['kling', 'kling-v2-6', { negative_prompt: 'negative_prompt', camera_control: 'camera_control' }],
  ['luma', 'ray-3.2', {}],
  ['minimax', 'MiniMax-H3', {}],
  ['minimax', 'MiniMax-Hailuo-2.3', {}],
  // What is for the vendor behind it has a field of its own.
  ['openrouter', 'google/veo-3.1', {}],
  ['runway', 'gen4.5', {}],
  ['runway', 'veo3.1', { negative_prompt: 'negativePrompt' }],
  ['vidu', 'viduq2', {}],
  ['xai', 'grok-imagine-video', {}],
];

/** The names under which a value stands anywhere in a body. */
function namesOf(value: unknown, body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, part]: [string, unknown]) =>
    JSON.stringify(part) === JSON.stringify(value) ? [name] : namesOf(value, part),
  );
}

async function bodyOf(provider: string, model: string, extra: JsonObject): Promise<unknown> {
  const upstream = canned({ status: 400, json: {} });
  const baseUrl = `https://upstream.example/v1${model.includes('@') ? '/publishers/google' : ''}`;
  const context = submitContext({ model, baseUrl, request: upstream.request });
  await providers[provider]?.video?.submit(videoRequest({ extra }), context).catch(() => undefined);
  return upstream.sent[0]?.json;
}

describe.each(rows)('%s, %s', (provider, model, mapping) => {
  it.each(names)('%s', async (name) => {
    const extra = { [name]: values[name] };
    const request = videoRequest({ extra });
    const video = providers[provider]?.video;
    if (video === undefined) throw new Error('the vendor makes no videos');
    const sentAs = mapping[name];
    const body = await bodyOf(provider, model, extra);
    expect(namesOf(values[name], body)).toEqual(sentAs === undefined ? [] : [sentAs]);
    expect(videoIssue(video, request, model)).toBeUndefined();
    expect(consumedBy(video, request, { upstream: model })?.metadata(name)).toBe(sentAs !== undefined);
  });
});

const words = ['reference', 'edit', 'extend', 'upscale', 'reframe'];

describe('video_task', () => {
  it.each<[provider: string, model: string, taken: string[]]>([
    ['ark', 'seedance-2-0', ['reference']],
    ['ark', 'seedance-2-5', ['reference', 'edit', 'extend']],
    ['bfl', 'flux-3-video', ['extend']],
    ['dashscope', 'wan3.0-video', ['reference']],
    ['dashscope', 'wan2.7-r2v', ['reference']],
    ['dashscope', 'a-model-of-tomorrow', ['reference']],
    ['google', 'gemini-omni-flash', ['edit', 'extend', 'upscale']],
    ['google', 'veo-3.1-generate-preview', ['extend']],
    ['kling', 'kling-3.0-omni', ['reference', 'edit']],
    ['kling', 'kling-v3-omni', ['reference', 'edit']],
    ['luma', 'ray-3.2', ['edit', 'reframe']],
    ['minimax', 'MiniMax-H3', ['reference']],
    ['openrouter', 'bytedance/seedance-2.0', ['reference']],
    ['runway', 'aleph2', ['edit']],
    ['runway', 'seedance2', ['reference', 'edit']],
    ['runway', 'seedance2_5', ['reference', 'edit', 'extend']],
    ['runway', 'a_model_of_tomorrow', ['reference']],
    ['xai', 'grok-imagine-video', ['edit', 'extend']],
    ['xai', 'grok-imagine-video-1.5', ['edit']],
  ])('of %s, %s is one of %j', (provider, model, taken) => {
    const video = providers[provider]?.video;
    const clip = ['https://ex.com/a.mp4'];
    const asked = (word: string) =>
      videoRequest({
        videos: clip,
        ...(word === 'reframe' ? { ratio: '16:9' } : {}),
        extra: { video_task: word },
      });
    expect(words.filter((word) => videoIssue(video, asked(word), model) === undefined)).toEqual(taken);
    for (const word of words)
      expect([word, videoIssue(video, asked(word), model)?.param ?? 'metadata.video_task']).toEqual([
        word,
        'metadata.video_task',
      ]);
  });

  it('is one of the names that mean the same everywhere', () => {
    expect(commonParameters).toEqual([...names, 'video_task']);
  });
});
