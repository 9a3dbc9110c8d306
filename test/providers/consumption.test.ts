import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionalFields, type OptionalField } from '../../src/models/consumption.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import { commonParameters, factsFor } from '../../src/models/facts-of-request.ts';
import type { JsonObject, VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { consumedBy, submissionOf, videoIssue, videoRequest } from './support.ts';
import { inputs, rowsOf } from './vendor-matrix.ts';

/** The fields that an adapter declares as used must be exactly those that change the body it sends. */

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
const clip = 'https://ex.com/a.mp4';
const special: readonly Partial<VideoRequest>[] = [
  { draft: true },
  { resolution: '480p' },
  { resolution: '1080p' },
  { extra: { frames: 57 } },
  { videos: [clip], extra: { video_task: 'upscale' } },
  { videos: [clip], ratio: '16:9', extra: { video_task: 'reframe' } },
  { videos: [clip], references: ['https://ex.com/a.png'], extra: { character_orientation: 'video' } },
];

const rows = Object.entries(providers).flatMap(([name, provider]) =>
  rowsOf(provider).flatMap(({ video, model }) => {
    const factsOf = (asked: Partial<VideoRequest>) =>
      factsFor(videoRequest(asked), servedFacts(video.facts, { upstream: model, mapping }));
    const accepted = [...inputs, ...special].filter(
      (asked) => videoIssue(video, videoRequest(asked), model, mapping) === undefined,
    );
    const cases = new Map(accepted.map((asked) => [JSON.stringify(factsOf(asked)), asked]));
    return [...cases.values()].map((asked) => [name, model, asked] as const);
  }),
);

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
      // If only one value is possible, the adapter rejects all others and need not send the one that remains.
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
    // A vendor may have a field of its own for the metadata, which does not count.
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

function keysOf(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const names = Array.isArray(body) ? [] : Object.keys(body);
  return [...names, ...Object.values(body).flatMap(keysOf)];
}

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
