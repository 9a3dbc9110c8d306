import { beforeAll, expect, it } from 'vitest';
import type { CreateImagesCommand } from '../../src/images/create-images.ts';
import type { ImageRequest } from '../../src/models/request.ts';
import { pixel } from '../images/support.ts';
import { caller } from '../support/client.ts';
import { useHttpWorld, type Server } from '../support/http-world.ts';

/** These requests are rewritten from the sources of widely used front ends, as of November 2026. */

const world = useHttpWorld('intake_front_ends');
const prompt = 'a lighthouse at night';
const data = pixel.toString('base64');
let node: Server;
const asked: CreateImagesCommand[] = [];

beforeAll(async () => {
  world.configure((yaml) =>
    yaml.replace('kind: image,', 'kind: image, n: { max: 4 }, inputs: { images: { max: 4 } },'),
  );
  const create = async (command: CreateImagesCommand) => {
    asked.push(command);
    const answer = { status: 200, parts: ['{}'], replayed: false, headers: {} };
    return { kind: 'answer' as const, answer };
  };
  node = await world.startNode({ images: { ...world.deps.images, create } });
});

interface FrontEnd {
  readonly name: string;
  readonly path: string;
  readonly body: object | FormData;
  readonly request: Partial<ImageRequest>;
  readonly images?: number;
}

const file = () => new File([new Uint8Array(pixel)], 'image.png', { type: 'image/png' });
function form(fields: Readonly<Record<string, string>>, files: readonly string[]): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  for (const name of files) made.append(name, file());
  return made;
}
const model = 'picture';
const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const chat = '/v1/chat/completions';

const frontEnds: readonly FrontEnd[] = [
  {
    name: 'Open WebUI, generation (backend/open_webui/routers/images.py)',
    path: generations,
    body: { model, prompt, n: 1, size: '512x512', response_format: 'b64_json' },
    request: { prompt, n: 1, size: '512x512', responseFormat: 'b64_json' },
  },
  {
    name: 'Open WebUI, edit with two images',
    path: edits,
    body: form({ model, prompt, n: '1', size: '1024x1024' }, ['image[]', 'image[]']),
    request: { prompt, n: 1, size: '1024x1024', operation: 'edit' },
    images: 2,
  },
  {
    name: 'LobeChat, images (openaiCompatibleFactory/createImage.ts)',
    path: generations,
    body: { model, n: 1, prompt, size: '1024x1024', quality: 'high', seed: null },
    request: { prompt, n: 1, size: '1024x1024', quality: 'high' },
  },
  {
    name: 'LobeChat, edit',
    path: edits,
    body: form({ model, n: '1', input_fidelity: 'high', prompt }, ['image']),
    request: { prompt, operation: 'edit' },
    images: 1,
  },
  {
    name: 'LobeChat, a model of images in a chat',
    path: chat,
    body: {
      messages: [
        {
          content: [
            { text: prompt, type: 'text' },
            { image_url: { url: `data:image/png;base64,${data}` }, type: 'image_url' },
          ],
          role: 'user',
        },
      ],
      model,
      stream: false,
    },
    request: { prompt, operation: 'edit', responseFormat: 'b64_json' },
    images: 1,
  },
  {
    name: 'Cherry Studio, a chat (openrouterGenerateImageMiddleware.ts)',
    path: '/api/v1/chat/completions',
    body: {
      model,
      messages: [
        { role: 'system', content: '' },
        { role: 'user', content: prompt },
      ],
      modalities: ['image', 'text'],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 4096,
    },
    request: { prompt, operation: 'generate' },
  },
  {
    name: 'SillyTavern, images through OpenRouter (src/endpoints/openrouter.js)',
    path: '/api/v1/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: prompt }],
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '16:9' },
    },
    request: { prompt, extra: { aspect_ratio: '16:9' } },
  },
  {
    name: 'n8n (actions/image/generate.operation.ts)',
    path: generations,
    body: { prompt, model, response_format: 'url', n: 2, size: '1024x1024', quality: 'high' },
    request: { prompt, n: 2, size: '1024x1024', quality: 'high', responseFormat: 'url' },
  },
  {
    name: 'Dify (gpt_image_2_generate.py)',
    path: generations,
    body: {
      model,
      prompt,
      size: '1536x1024',
      quality: 'high',
      output_format: 'jpeg',
      output_compression: 100,
      n: 1,
    },
    request: {
      prompt,
      size: '1536x1024',
      quality: 'high',
      extra: { output_format: 'jpeg', output_compression: 100 },
    },
  },
];

it.each(frontEnds)('$name', async ({ path, body, request, images = 0 }) => {
  asked.length = 0;
  const account = await world.newAccount();
  if (body instanceof FormData) {
    const headers = { authorization: `Bearer ${account.key}` };
    const answer = await fetch(node.url + path, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  } else {
    const answer = await caller(node.url, account.key)('POST', path, { body });
    expect([answer.status, answer.text]).toEqual([200, '{}']);
  }
  expect(asked.map((command) => command.request)).toMatchObject([request]);
  expect(asked[0]?.request.images).toHaveLength(images);
});
