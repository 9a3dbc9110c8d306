import OpenAI from 'openai';
import type { VideoCreateParams, VideoSeconds, VideoSize } from 'openai/resources/videos';
import { afterAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { defined } from '../../../src/base/defined.ts';
import { parseGatewayConfig } from '../../../src/config/gateway-file.ts';
import { withVendorFiles } from '../../../src/config/vendor-files.ts';
import { adapters } from '../../../src/providers/index.ts';
import { isUnusable } from '../../../src/providers/links.ts';
import type { HttpRequest, HttpRequestOptions } from '../../../src/providers/provider.ts';
import { createExpressions } from '../../../src/providers/vendor-files/expressions.ts';
import { fileProvider } from '../../../src/providers/vendor-files/file-provider.ts';
import { providerContext, submitContext, videoIssue, videoRequest } from '../support.ts';
import { exampleFile, examplesFolder } from './support.ts';

/** The test double rejects everything that the types of the vendor's client do not allow. */

const seconds = ['4', '8', '12'] as const satisfies readonly VideoSeconds[];
/** The types allow two more sizes, but only for sora-2-pro, which Azure does not offer. */
const sizes = ['720x1280', '1280x720'] as const satisfies readonly VideoSize[];
const bodySchema = z.strictObject({
  prompt: z.string(),
  model: z.literal('sora-2'),
  seconds: z.enum(seconds).optional(),
  size: z.enum(sizes).optional(),
  input_reference: z.instanceof(Blob).optional(),
} satisfies Record<keyof VideoCreateParams, z.ZodType>);

const base = 'https://res.openai.azure.com/openai/v1';
const expressions = createExpressions();
afterAll(() => expressions.close());
const { video } = fileProvider(exampleFile('azure-openai-video'), { expressions, now: () => 0 });

const sent: (HttpRequestOptions & { readonly fields: unknown })[] = [];
const strict: HttpRequest = async (options) => {
  const { headers = {}, json, form } = options;
  const fields: unknown = form === undefined ? json : Object.fromEntries(form);
  sent.push({ ...options, fields });
  const reply = (status: number, answer: object) => ({
    status,
    headers: {},
    json: answer,
    text: JSON.stringify(answer),
  });
  if (headers['api-key'] !== 'test-key' || 'authorization' in headers)
    return reply(401, { error: { code: 'unauthorized', message: 'Access denied.' } });
  const read = bodySchema.safeParse(fields);
  return read.success
    ? reply(200, { id: 'video_1', object: 'video', status: 'queued' })
    : reply(400, { error: { code: 'invalid_value', message: read.error.message } });
};
const context = submitContext({ baseUrl: base, model: 'sora-2', request: strict });
const frame = 'data:image/png;base64,aW1hZ2U=';

it.each(
  [undefined, 4, 8, 12].flatMap((duration) =>
    [undefined, '16:9', '9:16'].flatMap((ratio) =>
      [undefined, frame].map((firstFrame) => ({ duration, ratio, firstFrame })),
    ),
  ),
)('the vendor accepts every combination that the file offers: %o', async (asked) => {
  const request = videoRequest({ prompt: 'a mug', ...defined(asked) });
  await expect(video?.submit(request, context)).resolves.toMatchObject({ operation: { id: 'video_1' } });
});

it.each([
  [{ duration: 5 }, { seconds: '5' }],
  [{ ratio: '1:1' }, { size: '720x720' }],
  [{ lastFrame: frame }, { last_frame: frame }],
  [{ references: [frame] }, { references: [frame] }],
])('a request that the vendor would refuse is not sent: %o', (asked, fields) => {
  expect(bodySchema.safeParse({ prompt: 'a mug', model: 'sora-2', ...fields }).success).toBe(false);
  expect(videoIssue(video, videoRequest({ prompt: 'a mug', ...asked }), 'sora-2')).toBeDefined();
});

it('sends the same requests as the vendor’s client', async () => {
  const bodies: unknown[] = [];
  const client = new OpenAI({
    apiKey: 'test-key',
    baseURL: base,
    fetch: async (url, init) => {
      const body = new Response(init?.body);
      const form = await new Request('http://x', { method: 'POST', ...init })
        .formData()
        .catch(() => body.json());
      bodies.push([
        url instanceof Request ? url.url : String(url),
        form instanceof FormData ? Object.fromEntries(form) : form,
      ]);
      return Response.json({ id: 'video_1' });
    },
  });
  await client.videos.create({ model: 'sora-2', prompt: 'a mug', seconds: '8', size: '720x1280' });
  sent.length = 0;
  await video?.submit(videoRequest({ prompt: 'a mug', duration: 8, ratio: '9:16' }), context);
  expect(sent.map(({ url, fields }) => [url, fields])).toEqual(bodies);
});

it('the link of a result is below the base address, and only that host gets the key', async () => {
  const answer = {
    id: 'video_1',
    status: 'completed',
    seconds: '8',
    size: '1280x720',
    expires_at: 1_795_086_400,
  };
  const asked = providerContext({
    baseUrl: base,
    model: 'sora-2',
    request: async () => ({ status: 200, headers: {}, json: answer, text: '' }),
  });
  const url = `${base}/videos/video_1/content`;
  expect(await video?.status({ id: 'video_1' }, asked)).toMatchObject({
    state: 'succeeded',
    items: [{ url, expiresAt: 1_795_086_400 }],
    facts: { durationSeconds: 8, resolution: '720p', ratio: '16:9' },
  });
  expect(video?.linkHeaders?.(url, asked)).toEqual({ 'api-key': 'test-key' });
  expect(video?.linkHeaders?.('https://res.openai.azure.com.evil.example/x', asked)).toEqual({});
  expect(video === undefined || isUnusable(video)).toBe(true);
});

it('requires a storage to which results are copied', () => {
  const yaml = (results: object) =>
    withVendorFiles(
      stringify({
        currency: 'USD',
        vendors: ['azure-openai-video.yaml'],
        results,
        channels: [
          {
            id: 'azure',
            provider: 'azure-openai-video',
            base_url: base,
            credentials: [{ id: 'a', api_key: 'k' }],
            models: { sora: { upstream: 'sora-2' } },
          },
        ],
        models: [{ id: 'sora', kind: 'video', price: { lines: [{ measure: 'second', price: '0.12' }] } }],
      }),
      `${examplesFolder}/gateway.yaml`,
    );
  const parsed = (results: object) =>
    parseGatewayConfig(yaml(results), 'gateway.yaml', { environment: {}, ...adapters });
  expect(() => parsed({ storage: 'none' })).toThrow(/storage/);
  expect(parsed({ storage: 'directory' }).channels).toHaveLength(1);
});

it('refuses links_need_key if the key is not sent in a header', () => {
  const signed = (data: { authentication: object }) => {
    data.authentication = { query: 'key' };
  };
  expect(() => exampleFile('azure-openai-video', signed)).toThrow(/links_need_key/);
});
