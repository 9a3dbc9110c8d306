import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readImage } from '../media/image-reader.ts';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const key = { 'x-goog-api-key': 'test-key', authorization: '' };
const gemini = '/google/v1beta';
const project = 'projects/p1/locations/us-central1';
const vertex = `/google/v1/${project}/publishers/google`;
const vertexInteractions = `/google/v1beta1/${project}/interactions`;
const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  harness.call(method, path, body, path.startsWith(`${gemini}/`) ? key : {});
const advance = (seconds: number) => harness.control.advance(seconds);

const base64 = 'iVBORw0KGgo=';
const words = { type: 'text', text: 'a cat' };
const picture = { type: 'image', data: base64, mime_type: 'image/png' };
const video = (over: object = {}) => ({ type: 'video', delivery: 'uri', duration: '5s', ...over });
const task = (name: string) => ({ generation_config: { video_config: { task: name } } });

const interact = (over: object = {}, path = `${gemini}/interactions`) =>
  call('POST', path, {
    model: 'gemini-omni-1.1-flash',
    input: 'a cat',
    background: true,
    response_format: video(),
    ...over,
  });

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: 200 });
  return String(body.id);
}
const poll = async (id: string): Promise<Json> => (await call('GET', `${gemini}/interactions/${id}`)).body;
const saying = (fault: string) => interact({ input: `a cat [sim:${fault}]` });

describe('interactions', () => {
  it('answers a create with an interaction in progress, which carries the labels', async () => {
    const { status, body } = await interact({ labels: { task: 'gw-1' } });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(/^v1_/),
        status: 'in_progress',
        created: expect.stringMatching(/^\d{4}-.*Z$/),
        updated: expect.any(String),
        model: 'gemini-omni-1.1-flash',
        labels: { task: 'gw-1' },
      },
    });
  });

  it('ends with a link that needs the key, and redirects once', async () => {
    const id = await idOf(interact({ response_format: video({ aspect_ratio: '9:16' }) }));
    advance(4);
    expect(await poll(id)).toMatchObject({ status: 'in_progress' });
    advance(5);
    const { status, steps, usage } = await poll(id);
    expect({ status, steps }).toEqual({
      status: 'completed',
      steps: [
        {
          type: 'model_output',
          content: [
            {
              type: 'video',
              uri: expect.stringMatching(/\/v1beta\/files\/[\w-]+:download\?alt=media$/),
              mime_type: 'video/mp4',
            },
          ],
        },
      ],
    });
    expect(usage).toEqual({
      total_input_tokens: 2,
      total_output_tokens: 29_000,
      output_tokens_by_modality: [{ modality: 'video', tokens: 29_000 }],
      total_tokens: 29_002,
    });
    const { uri } = steps[0].content[0];
    expect((await fetch(uri)).status).toBe(403);
    const first = await fetch(uri, { headers: key, redirect: 'manual' });
    expect(first.status).toBe(302);
    const file = await fetch(first.headers.get('location') ?? '');
    const { width, height } = readMp4(Buffer.from(await file.arrayBuffer()));
    expect(height / width).toBeCloseTo(16 / 9, 1);
    expect((await fetch(uri.replace('?alt=media', ''), { headers: key })).status).toBe(400);
    advance(48 * 3600);
    expect((await fetch(uri, { headers: key, redirect: 'manual' })).status).toBe(403);
  });

  const many = (count: number) => [...Array.from({ length: count }, () => picture), words];
  it.each([
    ['a length in a number', { response_format: video({ duration: 5 }) }],
    ['a length without its unit', { response_format: video({ duration: '5' }) }],
    ['1:1', { response_format: video({ aspect_ratio: '1:1' }) }],
    ['480p', { response_format: video({ resolution: '480p' }) }],
    ['another type', { response_format: { type: 'text' } }],
    ['a seed', { seed: 1 }],
    ['what to leave out', { generation_config: { negative_prompt: 'x' } }],
    ['labels that are numbers', { labels: { task: 1 } }],
    ['an empty input', { input: [] }],
    ['an image of no type', { input: [{ type: 'image', data: base64 }, words] }],
    ['a data URL', { input: [{ ...picture, data: `data:image/png;base64,${base64}` }, words] }],
    ['an unknown task', task('morph')],
  ])('refuses %s', async (_, over) => {
    const { status, body } = await interact(over);
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: { code: 'invalid_request', message: expect.any(String) } },
    });
    expect(harness.control.stats().creates).toBe(0);
  });

  it('takes an unknown id for a wrong name, and on Vertex for nothing', async () => {
    const answer = await call('GET', `${gemini}/interactions/v1_x`);
    expect([answer.status, answer.body.error.message]).toEqual([400, 'Invalid interaction name: v1_x']);
    expect((await call('GET', `${vertexInteractions}/v1_x`)).status).toBe(404);
  });

  it('cancels until the end', async () => {
    const id = await idOf(interact());
    advance(4);
    const cancelled = await call('POST', `${gemini}/interactions/${id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
    advance(9);
    expect(await poll(id)).toMatchObject({ status: 'cancelled' });
    const other = await idOf(interact());
    advance(9);
    expect((await call('POST', `${gemini}/interactions/${other}/cancel`)).status).toBe(400);
    expect((await call('POST', `${gemini}/interactions/v1_x/cancel`)).status).toBe(400);
    expect(await poll(other)).toMatchObject({ status: 'completed' });
  });

  it.each([
    ['failed', { status: 'failed', error: { code: 'internal', message: expect.any(String) } }],
    ['failed=budget_exceeded', { status: 'budget_exceeded' }],
    ['failed=requires_action', { status: 'requires_action' }],
    [
      'moderation-in-task',
      {
        status: 'completed',
        steps: [{ type: 'model_output', content: [{ type: 'text', text: expect.any(String) }] }],
        usage: { total_input_tokens: 8, total_output_tokens: 20, total_tokens: 28 },
      },
    ],
    ['never-finishes', { status: 'incomplete' }],
  ])('ends with %s as the vendor does', async (fault, expected) => {
    const id = await idOf(saying(fault));
    advance(90_000);
    const { id: _, created, updated, model, ...rest } = await poll(id);
    expect([created, updated, model]).toEqual([
      expect.any(String),
      expect.any(String),
      'gemini-omni-1.1-flash',
    ]);
    expect(rest).toEqual(expected);
  });

  it('says a refusal for safety with a code, too', async () => {
    const id = await idOf(interact({ input: 'x [sim:moderation-in-task] [sim:docs-shape]' }));
    advance(9);
    expect(await poll(id)).toMatchObject({ status: 'failed', error: { code: 'SAFETY' } });
  });

  it('says in the body when to come again, and which quota is used up', async () => {
    const limited = await saying('429=7');
    expect(limited.headers.get('retry-after')).toBeNull();
    expect(limited.body.error.details).toEqual([
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
    ]);
    const [quota] = (await saying('quota')).body.error.details;
    expect(quota.violations[0].quotaId).toContain('PerDay');
  });

  it('of Vertex leaves links in a bucket, and gives bytes without', async () => {
    const bucket = video({ gcs_uri: 'gs://b/c' });
    const one = await idOf(interact({ response_format: bucket }, vertexInteractions));
    const inline = video({ delivery: 'inline' });
    const two = await idOf(interact({ response_format: inline, input: many(10) }, vertexInteractions));
    advance(9);
    const contentOf = async (id: string) =>
      (await call('GET', `${vertexInteractions}/${id}`)).body.steps[0].content[0];
    expect(await contentOf(one)).toMatchObject({ uri: `gs://b/c/${one}/sample_0.mp4` });
    expect(await contentOf(two)).toMatchObject({ data: expect.any(String) });
  });
});

const veo = (body: object, root = gemini) => {
  const model = root === gemini ? 'veo-3.1-generate-preview' : 'veo-3.1-generate-001';
  return call('POST', `${root}/models/${model}:predictLongRunning`, body);
};
const inBytes = { bytesBase64Encoded: base64, mimeType: 'image/png' };
const bucket = { gcsUri: 'gs://b/a.png', mimeType: 'image/png' };
const reference = { image: inBytes, referenceType: 'asset' };
const asked = (over: object = {}, parameters: object = {}) => ({
  instances: [{ prompt: 'a cat', ...over }],
  parameters,
});
async function nameOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toEqual({ status: 200, body: { name: expect.any(String) } });
  return body.name;
}
const operation = async (name: string): Promise<Json> => (await call('GET', `${gemini}/${name}`)).body;

describe('Veo of the Gemini API', () => {
  it('is done, or says nothing of it', async () => {
    const name = await nameOf(veo(asked({}, { durationSeconds: 8, resolution: '720p' })));
    expect(name).toMatch(/^models\/veo-3\.1-generate-preview\/operations\/[\w-]+$/);
    expect(await operation(name)).toEqual({ name });
    advance(4);
    expect(await operation(name)).toEqual({ name });
    advance(5);
    const done = await operation(name);
    expect(done).toEqual({
      name,
      done: true,
      response: {
        '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
        generateVideoResponse: {
          generatedSamples: [{ video: { uri: expect.stringContaining('alt=media') } }],
        },
      },
    });
    const { uri } = done.response.generateVideoResponse.generatedSamples[0].video;
    const file = await fetch(uri, { headers: key });
    expect(readMp4(Buffer.from(await file.arrayBuffer())).width).toBeGreaterThan(0);
  });

  it.each([
    ['failed', { error: { code: 13, message: expect.any(String) } }],
    ['never-finishes', { error: { code: 4, message: expect.any(String) } }],
    [
      'moderation-in-task',
      {
        response: {
          '@type': expect.any(String),
          generateVideoResponse: {
            raiMediaFilteredCount: 1,
            raiMediaFilteredReasons: [expect.any(String)],
          },
        },
      },
    ],
    [
      'missing-url',
      { response: { '@type': expect.any(String), generateVideoResponse: { generatedSamples: [] } } },
    ],
    [
      'docs-shape',
      {
        response: {
          '@type': expect.any(String),
          generateVideoResponse: { generatedVideos: [expect.anything()] },
        },
      },
    ],
  ])('ends with %s as the vendor does', async (fault, expected) => {
    const name = await nameOf(veo(asked({ prompt: `a cat [sim:${fault}]` })));
    advance(90_000);
    expect(await operation(name)).toEqual({ name, done: true, ...expected });
  });

  it.each([
    ['two instances', { instances: [{ prompt: 'x' }, { prompt: 'y' }] }],
    ['5 s', asked({}, { durationSeconds: 5 })],
    ['a length in a string', asked({}, { durationSeconds: '8' })],
    ['1:1', asked({}, { aspectRatio: '1:1' })],
    ['two samples', asked({}, { sampleCount: 2 })],
    ['a seed', asked({}, { seed: 1 })],
    ['a switch for sound', asked({}, { generateAudio: true })],
    ['labels', { ...asked(), labels: { a: 'b' } }],
    ['a bucket', asked({ image: bucket })],
    ['four references', asked({ referenceImages: Array.from({ length: 4 }, () => reference) })],
    ['a style', asked({ referenceImages: [{ ...reference, referenceType: 'style' }] })],
    ['an unknown field', asked({ negative: 'x' })],
  ])('refuses %s', async (_, body) => {
    const answer = await veo(body);
    expect([answer.status, answer.body.error.status]).toEqual([400, 'INVALID_ARGUMENT']);
  });

  it('does not know models and operations of Vertex', async () => {
    const other = await call('POST', `${gemini}/models/veo-3.1-generate-001:predictLongRunning`, asked());
    expect(other.status).toBe(404);
    const name = await nameOf(veo(asked()));
    expect((await call('GET', `${gemini}/${name}x`)).body.error.status).toBe('NOT_FOUND');
    expect((await call('GET', `${gemini}/interactions/${name.split('/').at(-1)}`)).status).toBe(400);
    expect((await call('GET', `${gemini}/v1x`)).status).toBe(404);
  });
});

describe('Veo of Vertex', () => {
  const fetchOperation = (operationName: string) =>
    call('POST', `${vertex}/models/veo-3.1-generate-001:fetchPredictOperation`, { operationName });

  it('gives the bytes, or leaves them in a bucket', async () => {
    const one = await nameOf(veo(asked({}, { sampleCount: 2, seed: 1, generateAudio: true }), vertex));
    expect(one).toMatch(
      /^projects\/p1\/locations\/us-central1\/publishers\/google\/models\/[\w.-]+\/operations\//,
    );
    const two = await nameOf(
      veo({ ...asked({ image: bucket }, { storageUri: 'gs://b/o' }), labels: { a: 'b' } }, vertex),
    );
    expect((await fetchOperation(one)).body).toEqual({ name: one });
    advance(9);
    const { videos } = (await fetchOperation(one)).body.response;
    expect(videos).toHaveLength(2);
    expect(readMp4(Buffer.from(videos[0].bytesBase64Encoded, 'base64')).width).toBeGreaterThan(0);
    const left = (await fetchOperation(two)).body.response.videos;
    expect(left).toEqual([{ gcsUri: expect.stringMatching(/^gs:\/\/b\/o\//), mimeType: 'video/mp4' }]);
  });

  it('reports what was filtered one level higher', async () => {
    const name = await nameOf(veo(asked({ prompt: 'x [sim:moderation-in-task]' }), vertex));
    advance(9);
    expect((await fetchOperation(name)).body.response).toEqual({
      raiMediaFilteredCount: 1,
      raiMediaFilteredReasons: [expect.any(String)],
    });
  });
});

const paint = (over: object = {}, model = 'gemini-nano-banana-2.1', root = gemini) => {
  harness.control.setRenderSeconds(0);
  return call('POST', `${root}/models/${model}:generateContent`, {
    contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
    generationConfig: { responseModalities: ['IMAGE'] },
    ...over,
  });
};
const config = (over: object, imageConfig: object = {}) => ({
  generationConfig: { responseModalities: ['IMAGE'], imageConfig, ...over },
});
const painted = (fault: string) => paint({ contents: [{ parts: [{ text: `a cat [sim:${fault}]` }] }] });

describe('images', () => {
  it('come in the answer, in the shape that was asked for', async () => {
    const { status, body } = await paint(config({ seed: 1 }, { aspectRatio: '16:9', imageSize: '1K' }));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ inlineData: { mimeType: 'image/png', data: expect.any(String) } }],
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1120, totalTokenCount: 1132 },
        modelVersion: 'gemini-nano-banana-2.1',
        responseId: expect.any(String),
      },
    });
    const { data } = body.candidates[0].content.parts[0].inlineData;
    const { width, height } = readImage(Buffer.from(data, 'base64'));
    expect(width / height).toBeCloseTo(16 / 9, 1);
    expect(width * height).toBeCloseTo(1024 * 1024, -5);
  });

  it('of Pro come after a draft, which is a thought', async () => {
    const { parts } = (await paint({}, 'gemini-3-pro-image')).body.candidates[0].content;
    expect(parts.map(({ thought, inlineData }: Json) => [thought, inlineData !== undefined])).toEqual([
      [true, false],
      [true, true],
      [undefined, true],
    ]);
    expect(parts[1].inlineData.data).not.toBe(parts[2].inlineData.data);
  });

  it.each([
    ['item-moderation', 'IMAGE_SAFETY'],
    ['item-moderation=IMAGE_RECITATION', 'IMAGE_RECITATION'],
    ['moderation-in-task', 'IMAGE_SAFETY'],
    ['item-error', 'NO_IMAGE'],
  ])('are missing after %s, with a reason', async (fault, reason) => {
    const { status, body } = await painted(fault);
    expect([status, body.candidates]).toEqual([200, [{ content: {}, finishReason: reason }]]);
  });

  it('are missing without candidates where the prompt was blocked', async () => {
    const { status, body } = await painted('moderation');
    expect([status, body.promptFeedback, body.candidates]).toEqual([
      200,
      { blockReason: 'PROHIBITED_CONTENT' },
      undefined,
    ]);
    expect(harness.control.stats().creates).toBe(0);
  });
});

describe('keys', () => {
  const send = (path: string, headers: Record<string, string>) =>
    harness.call('GET', path, undefined, { authorization: '', ...headers });
  const one = `${gemini}/interactions/v1_x`;
  const other = `${gemini}/models/veo-3.1-generate-preview/operations/x`;

  it.each([
    ['none', other, {}, 403, 'PERMISSION_DENIED'],
    ['a bearer token', other, { authorization: 'Bearer test-key' }, 403, 'PERMISSION_DENIED'],
    ['a wrong one', other, { 'x-goog-api-key': 'wrong' }, 400, 'INVALID_ARGUMENT'],
    ['the right one', other, { 'x-goog-api-key': 'test-key' }, 404, 'NOT_FOUND'],
    ['one in the query', `${other}?key=test-key`, {}, 404, 'NOT_FOUND'],
    ['none on Vertex', `${vertexInteractions}/v1_x`, {}, 401, 'UNAUTHENTICATED'],
    [
      'a key on Vertex',
      `${vertexInteractions}/v1_x`,
      { 'x-goog-api-key': 'test-key' },
      401,
      'UNAUTHENTICATED',
    ],
    [
      'a token on Vertex',
      `${vertexInteractions}/v1_x`,
      { authorization: 'Bearer test-key' },
      404,
      'NOT_FOUND',
    ],
  ])('%s', async (_, path, headers, ...[status, word]) => {
    const answer = await send(path, headers);
    expect([answer.status, answer.body.error.status]).toEqual([status, word]);
  });

  it('are refused in an array by the front end of interactions', async () => {
    const { status, body } = await send(one, { 'x-goog-api-key': 'wrong' });
    expect([status, body]).toEqual([
      400,
      [
        {
          error: {
            code: 400,
            message: expect.stringContaining('API key not valid'),
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    ]);
  });
});
