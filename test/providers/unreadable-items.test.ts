import { describe, expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { canned, imageRequest, providerContext } from './support.ts';

/** An unreadable item must not hide the other items, which were rendered and are billed. */

const url = 'https://files.example/1.png';

describe('an image next to one that cannot be read', () => {
  it.each([
    ['xai', { data: [null, { url }, 'x'] }],
    ['minimax', { data: { image_urls: [null, url, ''] }, base_resp: { status_code: 0 } }],
    ['openai', { created: 1, data: [null, { url }] }],
    ['ark', { created: 1, data: [null, { url }] }],
    ['dashscope', { output: { choices: [null, { message: { content: [null, { image: url }] } }] } }],
  ])('is delivered by %s', async (name, json) => {
    const { request } = canned({ json });
    const context = providerContext({ request, model: name === 'openai' ? 'dall-e-3' : 'qwen-image-2.0' });
    const answer = await providers[name]?.image?.generate(imageRequest(), context);
    expect(answer?.images.map((image) => image.url)).toEqual([url]);
  });

  it('is delivered by google', async () => {
    const inlineData = { mimeType: 'image/png', data: 'aW1hZ2U=' };
    const json = { candidates: [null, { content: { parts: [null, { inlineData }] } }] };
    const context = providerContext({ request: canned({ json }).request, model: 'gemini-nano-banana-2.1' });
    const answer = await providers['google']?.image?.generate(imageRequest(), context);
    expect(answer?.images.map(({ base64 }) => String(base64))).toEqual(['aW1hZ2U=']);
  });

  it.each([
    ['kling', { id: 'j', path: '/v1/images/generations' },
      { code: 0, data: { task_id: 'j', task_status: 'succeed', task_result: { images: [null, { url }] } } }],
    ['dashscope', { id: 'j' }, { output: { task_id: 'j', task_status: 'SUCCEEDED', results: [null, { url }] } }],
    ['luma', { id: 'j' }, { id: 'j', state: 'completed', output: [null, { url }] }],
    ['runway', { id: 'j' }, { id: 'j', status: 'SUCCEEDED', output: [null, url] }],
  ])('is delivered by a job of %s', async (name, operation, json) => {
    const context = providerContext({ request: canned({ json }).request });
    expect(await providers[name]?.imageTask?.status(operation, context)).toMatchObject({
      state: 'succeeded',
      items: [{ url }],
    });
  }); // prettier-ignore
});

it('a flag that cannot be read does not release flagged images', async () => {
  const json = { images: [{ url }, { url: `${url}?2` }], has_nsfw_concepts: [true, null] };
  const { request } = canned({ json: { status: 'COMPLETED' } }, { json });
  const operation = { id: 'r', endpoint: 'owner/app', app: 'owner/app' };
  const status = await providers['fal']?.imageTask?.status(operation, providerContext({ request }));
  expect(status).toMatchObject({ state: 'succeeded', items: [{ url: `${url}?2` }] });
});
