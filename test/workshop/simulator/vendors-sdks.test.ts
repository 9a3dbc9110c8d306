import { createFalClient, ApiError as FalError } from '@fal-ai/client';
import { GenerateVideosOperation, GoogleGenAI, VideoGenerationReferenceType } from '@google/genai';
import { OpenRouter } from '@openrouter/sdk';
import { OpenRouterError } from '@openrouter/sdk/models/errors';
import RunwayML, { APIError as RunwayError } from '@runwayml/sdk';
import Replicate from 'replicate';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { startHarness, testKey, type Harness } from './support.ts';

/**
 * The vendors' own clients create a job and read its result, cancel a job, get a rejected job, and use a wrong key. If
 * a client cannot read a response, the dialect is wrong. `dialects/openai.test.ts` covers OpenAI's client.
 */

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

interface Walk {
  readonly name: string;
  readonly words: readonly [queued: string, running: string, ended: string];
  readonly cancelled?: string | number;
  readonly refusals?: readonly [wrongKey: number, unknownJob: number];
  readonly connect: (key: string) => Connected;
}

interface Connected {
  readonly create: (prompt: string) => Promise<string>;
  readonly poll: (id: string) => Promise<{ readonly word: string; readonly link?: string | undefined }>;
  readonly cancel?: (id: string) => Promise<unknown>;
  readonly linkHeaders?: Readonly<Record<string, string>>;
  readonly statusOf: (error: unknown) => number | undefined;
}

const runway: Walk = {
  name: '@runwayml/sdk',
  words: ['PENDING', 'RUNNING', 'SUCCEEDED'],
  cancelled: 404,
  connect: (apiKey) => {
    const { textToVideo, tasks } = new RunwayML({ apiKey, baseURL: `${harness.url}/runway`, maxRetries: 0 });
    return {
      create: async (promptText) =>
        (await textToVideo.create({ model: 'gen4.5', promptText, ratio: '1280:720', duration: 5 })).id,
      async poll(id) {
        const task = await tasks.retrieve(id);
        return { word: task.status, link: task.status === 'SUCCEEDED' ? task.output[0] : undefined };
      },
      cancel: (id) => tasks.delete(id),
      statusOf: (error) => (error instanceof RunwayError ? error.status : undefined),
    };
  },
};

const fal: Walk = {
  name: '@fal-ai/client',
  words: ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'],
  cancelled: 499,
  connect: (credentials) => {
    const model = 'bytedance/seedance-2.0/text-to-video';
    const { queue } = createFalClient({
      credentials,
      retry: { maxRetries: 0 },
      requestMiddleware: async (request) => ({
        ...request,
        url: request.url.replace('https://queue.fal.run', `${harness.url}/fal`),
      }),
    });
    return {
      create: async (prompt) => (await queue.submit(model, { input: { prompt } })).request_id,
      async poll(requestId) {
        const { status } = await queue.status(model, { requestId });
        if (status !== 'COMPLETED') return { word: status };
        const { data } = await queue.result(model, { requestId });
        return { word: status, link: data.video.url };
      },
      cancel: (requestId) => queue.cancel(model, { requestId }),
      statusOf: (error) => (error instanceof FalError ? error.status : undefined),
    };
  },
};

const replicate: Walk = {
  name: 'replicate',
  words: ['starting', 'processing', 'succeeded'],
  cancelled: 'aborted',
  connect: (auth) => {
    const { predictions } = new Replicate({ auth, baseUrl: `${harness.url}/replicate/v1` });
    return {
      create: async (prompt) =>
        (await predictions.create({ model: 'bytedance/seedance-2.0', input: { prompt } })).id,
      async poll(id) {
        const { status, output } = await predictions.get(id);
        return { word: status, link: typeof output === 'string' ? output : undefined };
      },
      cancel: (id) => predictions.cancel(id),
      statusOf: (error) =>
        error instanceof Error && 'response' in error && error.response instanceof Response
          ? error.response.status
          : undefined,
    };
  },
};

const openrouter: Walk = {
  name: '@openrouter/sdk',
  words: ['pending', 'in_progress', 'completed'],
  connect: (apiKey) => {
    const serverURL = `${harness.url}/openrouter/api/v1`;
    const { videoGeneration } = new OpenRouter({ apiKey, serverURL, retryConfig: { strategy: 'none' } });
    return {
      async create(prompt) {
        const imageUrl = { url: 'https://ex.com/a.png' };
        const { id } = await videoGeneration.generate({
          videoGenerationRequest: {
            model: 'google/veo-3.1',
            prompt,
            duration: 5,
            resolution: '720p',
            aspectRatio: '16:9',
            frameImages: [{ type: 'image_url', imageUrl, frameType: 'first_frame' }],
            generateAudio: true,
          },
        });
        return id;
      },
      async poll(jobId) {
        const { status, unsignedUrls } = await videoGeneration.getGeneration({ jobId });
        return { word: String(status), link: unsignedUrls?.[0] };
      },
      linkHeaders: { authorization: `Bearer ${apiKey}` },
      statusOf: (error) => (error instanceof OpenRouterError ? error.statusCode : undefined),
    };
  },
};

function google(apiKey: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${harness.url}/google`, apiVersion: 'v1beta' } });
}

const googleAnswers = (apiKey: string) => ({
  linkHeaders: { 'x-goog-api-key': apiKey },
  statusOf: (error: unknown) =>
    error instanceof Error && 'status' in error ? Number(error.status) : undefined,
});

const veo: Walk = {
  name: '@google/genai, Veo',
  words: ['rendering', 'rendering', 'done'],
  refusals: [400, 404],
  connect: (apiKey) => {
    const { models, operations } = google(apiKey);
    const model = 'veo-3.1-generate-preview';
    const image = { imageBytes: 'iVBORw0KGgo=', mimeType: 'image/png' };
    return {
      async create(prompt) {
        const { name } = await models.generateVideos({
          model,
          source: { prompt },
          config: {
            aspectRatio: '16:9',
            durationSeconds: 8,
            resolution: '720p',
            referenceImages: [{ image, referenceType: VideoGenerationReferenceType.ASSET }],
          },
        });
        return name?.split('/').at(-1) ?? '';
      },
      async poll(id) {
        const operation = new GenerateVideosOperation();
        operation.name = `models/${model}/operations/${id}`;
        const { done, response } = await operations.getVideosOperation({ operation });
        return {
          word: done === true ? 'done' : 'rendering',
          link: response?.generatedVideos?.[0]?.video?.uri,
        };
      },
      ...googleAnswers(apiKey),
    };
  },
};

const omni: Walk = {
  name: '@google/genai, Omni',
  words: ['in_progress', 'in_progress', 'completed'],
  cancelled: 'cancelled',
  refusals: [400, 400],
  connect: (apiKey) => {
    const { interactions } = google(apiKey);
    return {
      async create(input) {
        const order = {
          model: 'gemini-omni-1.1-flash',
          input,
          background: true,
          response_format: { type: 'video' as const, delivery: 'uri', aspect_ratio: '16:9', duration: '5s' },
          generation_config: { video_config: { task: 'text_to_video' } },
          labels: { task: 'mediary-1' },
        };
        const { id } = await interactions.create(order, { maxRetries: 0 });
        return id;
      },
      async poll(id) {
        const { status, steps } = await interactions.get(id);
        const parts = steps.flatMap((step) => (step.type === 'model_output' ? (step.content ?? []) : []));
        const links = parts.flatMap((part) => (part.type === 'video' ? [part.uri] : []));
        return { word: status, link: links[0] };
      },
      cancel: (id) => interactions.cancel(id),
      ...googleAnswers(apiKey),
    };
  },
};

const walks = [runway, fal, replicate, openrouter, veo, omni];

async function refusal(client: Connected, promise: Promise<unknown>): Promise<number | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return client.statusOf(error);
}

it('@google/genai reads an image, and what was counted', async () => {
  const { candidates, usageMetadata } = await google(testKey).models.generateContent({
    model: 'gemini-3-pro-image',
    contents: 'a boat',
    config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '1K' } },
  });
  const types = candidates?.[0]?.content?.parts?.map(({ inlineData }) => inlineData?.mimeType);
  expect(types).toContain('image/png');
  expect(usageMetadata?.candidatesTokenCount).toBeGreaterThan(0);
});

it.each(walks)('$name follows a job to a result that opens', async ({ words, connect }) => {
  const client = connect(testKey);
  const id = await client.create('a boat');
  expect(await client.poll(id)).toEqual({ word: words[0], link: undefined });
  harness.control.advance(4);
  expect(await client.poll(id)).toEqual({ word: words[1], link: undefined });
  harness.control.advance(5);
  const { word, link } = await client.poll(id);
  expect(word).toBe(words[2]);
  const file = await fetch(link ?? '', { headers: client.linkHeaders ?? {} });
  expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4']);
});

it.each(walks.filter((walk) => walk.cancelled !== undefined))(
  '$name cancels a job that waits',
  async ({ cancelled, connect }) => {
    const client = connect(testKey);
    const id = await client.create('a boat');
    await client.cancel?.(id);
    const after = await client.poll(id).then(
      ({ word }) => word,
      (error: unknown) => client.statusOf(error),
    );
    expect(after).toBe(cancelled);
  },
);

it.each(walks)(
  '$name reads a failure, a wrong key and an unknown job as what they are',
  async ({ connect, refusals: [wrongKey, unknownJob] = [401, 404] }) => {
    const client = connect(testKey);
    expect(await refusal(client, client.create('a boat [sim:500]'))).toBe(500);
    expect(await refusal(client, connect('wrong').create('a boat'))).toBe(wrongKey);
    expect(await refusal(client, client.poll('unknown'))).toBe(unknownJob);
    expect(harness.control.tasks('a boat')).toHaveLength(0);
  },
);
