import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionalFields } from '../../src/models/consumption.ts';
import type { OptionalField } from '../../src/models/consumption.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import { commonParameters, factsFor } from '../../src/models/facts-of-request.ts';
import type { JsonObject, VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { consumedBy, submissionOf, videoIssue, videoRequest } from './support.ts';

/** The fields that an adapter declares as used are exactly those that change the body that it sends. */

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

const samples: Readonly<Record<OptionalField, readonly unknown[]>> = {
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

const bodyOf = async (
  provider: string,
  model: string,
  request: VideoRequest,
  more: { callbackUrl?: string } = {},
) => submissionOf(providers[provider]?.video, request, { model, mapping, ...more });

describe.each(rows)('%s, %s, %j', (provider, model, request) => {
  const video = providers[provider]?.video;
  const consumed = (asked: VideoRequest) =>
    video === undefined ? undefined : consumedBy(video, asked, { upstream: model, mapping });

  it('uses the fields that change the body', async () => {
    for (const [field, values] of Object.entries(samples)) {
      const plain = await bodyOf(provider, model, videoRequest({ ...request, [field]: undefined }));
      const rendered = values
        .map((value) => videoRequest({ ...request, [field]: value }))
        .filter((asked) => videoIssue(video, asked, model, mapping) === undefined);
      const bodies = await Promise.all(rendered.map((asked) => bodyOf(provider, model, asked)));
      const [first] = rendered;
      if (first === undefined) continue;
      // If only one value can be chosen, all others are refused, and this value takes effect without being sent.
      const isKept = bodies.length === 1 && values.length > 1;
      const isUsed = consumed(first)?.fields.some((name) => name === field);
      expect([field, isUsed]).toEqual([field, isKept || bodies.some((body) => body !== plain)]);
    }
  });

  it.each(['theirs', 'model', 'callback_url'])('uses metadata.%s if it is sent', async (name) => {
    const asked = videoRequest({ ...request, extra: { ...request.extra, [name]: 'x' } });
    if (videoIssue(video, asked, model, mapping) !== undefined) return;
    const isSent =
      (await bodyOf(provider, model, asked)) !== (await bodyOf(provider, model, videoRequest(request)));
    expect(consumed(asked)?.metadata(name)).toBe(isSent);
  });

  it('is changed only by the metadata that it declares, and never in fields that the gateway sets', async () => {
    const extraOf = (more: JsonObject) => videoRequest({ ...request, extra: { ...more, ...request.extra } });
    const jsonOf = async (more: JsonObject) => JSON.parse(await bodyOf(provider, model, extraOf(more)))[1];
    if (video === undefined) throw new Error('the vendor makes no videos');
    const facts = factsFor(videoRequest(request), servedFacts(video.facts, { upstream: model, mapping }));
    const extra = Object.keys(request.extra ?? {});
    const known = new Set<string>([...commonParameters, ...Object.keys(facts.parameters ?? {}), ...extra]);
    const plain = await jsonOf({});
    const callbackUrl = 'https://gw.example/cb';
    const whole = JSON.parse(await bodyOf(provider, model, extraOf({}), { callbackUrl }))[1];
    // The metadata may be in a separate field.
    const decided = Object.keys(whole).filter((name) => !known.has(name) && name !== 'metadata');
    const taken = [...decided, ...(facts.reserved ?? []), ...keysOf(whole)].filter(
      (name) => !known.has(name),
    );
    const names = fc.oneof(fc.constantFrom(...taken), fc.string({ maxLength: 12 }));
    const metadata = fc.dictionary(names, fc.jsonValue({ maxDepth: 1 }), { noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(metadata, async (said) => {
        const more: JsonObject = JSON.parse(JSON.stringify(said));
        const { metadata: isUsed } = consumed(extraOf(more)) ?? { metadata: () => false };
        const used = Object.fromEntries(Object.entries(more).filter(([name]) => isUsed(name)));
        const body = await jsonOf(more);
        expect(body).toMatchObject(plain);
        expect(decided.filter((name) => Object.hasOwn(body, name))).toEqual(
          decided.filter((name) => Object.hasOwn(plain, name)),
        );
        expect(body).toEqual(await jsonOf(used));
        for (const [name, value] of Object.entries(used)) expect(valuesOf(name, body)).toContainEqual(value);
      }),
      { numRuns: 20 },
    );
  });
});

/** Returns the names of all fields in a body. */
function keysOf(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const names = Array.isArray(body) ? [] : Object.keys(body);
  return [...names, ...Object.values(body).flatMap(keysOf)];
}

/** Returns what the fields of this name hold, anywhere in a body. */
function valuesOf(name: string, body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return [];
  const found = Object.hasOwn(body, name) && !Array.isArray(body) ? [Reflect.get(body, name)] : [];
  return [...found, ...Object.values(body).flatMap((value) => valuesOf(name, value))];
}

it('every adapter of videos has a row', () => {
  const withVideos = Object.keys(providers).filter((name) => providers[name]?.video !== undefined);
  expect(new Set(rows.map(([provider]) => provider))).toEqual(new Set(withVideos));
});

it('tries every field', () => {
  expect(Object.keys(samples).toSorted()).toEqual(optionalFields.toSorted());
});
