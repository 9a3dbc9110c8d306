import { describe, expect, it } from 'vitest';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import type { AskedImage, AskedVideo } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { asAsked, canned, submitContext, videoRequest } from './support.ts';
import { testBuyer } from '../support/buyer.ts';

/** Tests what every adapter sends for each image role. The core assigns the roles. */

const first = 'data:image/png;base64,Rmlyc3Q=';
const last = 'data:image/png;base64,TGFzdA==';
const bare = (url: string) => url.slice(url.indexOf(',') + 1);

const mapping = fieldMappingSchema.parse({
  fields: {
    prompt: 'prompt',
    first_frame: 'image',
    last_frame: 'end_image',
    images: { name: 'image_urls', inputs: ['reference'] },
  },
  result: 'output',
});
const framesOnly = fieldMappingSchema.parse({
  fields: { prompt: 'prompt', first_frame: 'image' },
  result: 'output',
});

interface Row {
  readonly provider: string;
  readonly upstream: string;
  readonly first?: string;
  readonly last?: string;
  readonly references?: string;
  readonly mapping?: typeof mapping;
}

const rows: readonly Row[] = [
  { provider: 'ark', upstream: 'seedance-2-0', first: 'role=first_frame', last: 'role=last_frame', references: 'role=reference_image' },
  { provider: 'ark', upstream: 'seedance-1-5-pro', first: 'role=first_frame', last: 'role=last_frame' },
  { provider: 'ark', upstream: 'seedance-1-0-lite-t2v' },
  { provider: 'ark', upstream: 'ep-20260101-abcde', first: 'role=first_frame', last: 'role=last_frame', references: 'role=reference_image' },
  { provider: 'bfl', upstream: 'flux-3-video', first: 'keyframes', last: 'keyframes' },
  { provider: 'dashscope', upstream: 'wan3.0-video', first: 'type=first_frame', last: 'type=last_frame', references: 'type=reference_image' },
  { provider: 'dashscope', upstream: 'wan2.7-i2v', first: 'type=first_frame', last: 'type=last_frame' },
  { provider: 'dashscope', upstream: 'wan2.6-i2v', first: 'img_url' },
  { provider: 'dashscope', upstream: 'wan2.6-r2v', references: 'reference_urls' },
  { provider: 'dashscope', upstream: 'wan2.6-t2v' },
  { provider: 'fal', upstream: 'owner/app', mapping, first: 'image', last: 'end_image', references: 'image_urls' },
  { provider: 'fal', upstream: 'owner/app', mapping: framesOnly, first: 'image' },
  { provider: 'gateway', upstream: 'any', first: 'input_type=first_last_frame', last: 'input_type=first_last_frame', references: 'input_type=reference' },
  { provider: 'google', upstream: 'gemini-omni-flash', first: 'task=image_to_video', references: 'task=reference_to_video' },
  { provider: 'google', upstream: 'veo-3.1-generate-preview', first: 'image', last: 'lastFrame', references: 'referenceImages' },
  { provider: 'kling', upstream: 'kling-3.0', first: 'type=first_frame', last: 'type=last_frame' },
  { provider: 'kling', upstream: 'kling-2.6', first: 'type=first_frame', last: 'type=last_frame' },
  { provider: 'kling', upstream: 'kling-3.0-omni', first: 'type=first_frame', last: 'type=last_frame', references: 'type=refer_image' },
  { provider: 'kling', upstream: 'kling-4.0', first: 'type=first_frame', last: 'type=last_frame', references: 'type=refer_image' },
  { provider: 'kling', upstream: 'kling-v2-6', first: 'image', last: 'image_tail' },
  { provider: 'kling', upstream: 'kling-v1-6', first: 'image', last: 'image_tail', references: 'image_list' },
  { provider: 'luma', upstream: 'ray-3.2', first: 'start_frame', last: 'end_frame' },
  { provider: 'minimax', upstream: 'MiniMax-H3', first: 'role=first_frame', last: 'role=last_frame', references: 'role=reference_image' },
  { provider: 'minimax', upstream: 'MiniMax-Hailuo-02', first: 'first_frame_image', last: 'last_frame_image' },
  { provider: 'minimax', upstream: 'MiniMax-Hailuo-2.3', first: 'first_frame_image' },
  { provider: 'openrouter', upstream: 'some/model', first: 'frame_type=first_frame', last: 'frame_type=last_frame', references: 'input_references' },
  { provider: 'replicate', upstream: 'owner/name', mapping, first: 'image', last: 'end_image', references: 'image_urls' },
  { provider: 'runway', upstream: 'veo3.1', first: 'position=first', last: 'position=last' },
  { provider: 'runway', upstream: 'gen4.5', first: 'position=first' },
  { provider: 'runway', upstream: 'seedance2', first: 'position=first', last: 'position=last', references: 'references' },
  { provider: 'runway', upstream: 'a_model_of_tomorrow', first: 'position=first', last: 'position=last', references: 'references' },
  { provider: 'vidu', upstream: 'viduq3-pro', first: 'images', last: 'images', references: 'images' },
  { provider: 'xai', upstream: 'grok-imagine-video-1.5', first: 'image', last: 'last_frame', references: 'reference_images' },
  { provider: 'xai', upstream: 'grok-imagine-video', first: 'image', references: 'reference_images' },
  { provider: 'xai', upstream: 'grok-imagine-video-1.5-lite', first: 'image' },
]; // prettier-ignore

function plan(row: Row, images: readonly AskedImage[], named: AskedVideo['named'] = {}) {
  const { provider, upstream, mapping: fields } = row;
  const served = { upstream, ...(fields === undefined ? {} : { mapping: fields }) };
  const config = fileSchema.parse({
    currency: 'USD',
    channels: [
      {
        id: 'one',
        provider,
        base_url: 'https://upstream.example/v1',
        credentials: [{ id: 'a', api_key: 'k' }],
        models: { m: served },
      },
    ],
    models: [
      {
        id: 'm',
        kind: 'video',
        input_types: ['text_to_video', 'first_last_frame', 'reference'],
        inputs: { images: { max: 9 } },
        price: { lines: [{ measure: 'call', price: '1' }] },
      },
    ],
  });
  const catalogue = createCatalogue({
    current: () => ({ ...config, hash: 'v', vendors: {} }),
    providers,
    random: () => 0,
  });
  const asked = { ...asAsked(videoRequest({ model: 'm' })), images, named };
  return catalogue.plan(asked, testBuyer).request;
}

async function wordsAbout(row: Row, images: readonly AskedImage[], url: string): Promise<readonly string[]> {
  const request = plan(row, images);
  if (request.kind !== 'video') throw new Error('no video');
  const upstream = canned({ status: 400, json: {} });
  const context = submitContext({
    model: row.upstream,
    request: upstream.request,
    ...(row.mapping === undefined ? {} : { mapping: row.mapping }),
  });
  await providers[row.provider]?.video?.submit(request, context).catch(() => undefined);
  const found = search(upstream.sent[0]?.json, url, []);
  return [...(found ?? []), ...plainWords(upstream.sent[0]?.json)];
}

function search(value: unknown, url: string, above: readonly string[]): readonly string[] | undefined {
  if (value === url || value === bare(url)) return above;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const beside = Array.isArray(value) ? above : [...above, name, ...plainWords(value)];
    const found = search(item, url, beside);
    if (found !== undefined) return found;
  }
  return undefined;
}

function plainWords(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    typeof item === 'string' ? [`${name}=${item}`] : name.endsWith('config') ? plainWords(item) : [],
  );
}

function refusal(row: Row, images: readonly AskedImage[], named: AskedVideo['named'] = {}): string {
  try {
    return JSON.stringify(plan(row, images, named));
  } catch (error) {
    if (error instanceof GatewayError) return error.param;
    throw error;
  }
}

const frame = { url: first, role: 'first_frame' } as const;
const end = { url: last, role: 'last_frame' } as const;
const reference = { url: first, role: 'reference' } as const;
const another = { url: last, role: 'reference' } as const;

describe.each(rows)('$provider, $upstream', (row) => {
  it('takes one image as its first frame, or refuses it', async () => {
    if (row.first === undefined) expect(refusal(row, [frame])).toBe('images[0]');
    else expect(await wordsAbout(row, [frame], first)).toContain(row.first);
  });

  it('takes two images as its first and last frame, or refuses them', async () => {
    if (row.last === undefined)
      expect(refusal(row, [frame, end])).toBe(row.first === undefined ? 'images[0]' : 'images[1]');
    else {
      expect(await wordsAbout(row, [frame, end], first)).toContain(row.first);
      expect(await wordsAbout(row, [frame, end], last)).toContain(row.last);
    }
  });

  it('uses references only as references, or refuses them', async () => {
    if (row.references === undefined) {
      expect(refusal(row, [reference])).toBe('images');
      expect(refusal(row, [reference, another])).toBe('images');
      return;
    }
    expect(await wordsAbout(row, [reference], first)).toContain(row.references);
    expect(await wordsAbout(row, [reference, another], last)).toContain(row.references);
  });

  it('uses an image without a role as a reference, or as the first frame if it accepts no references', async () => {
    const expected = row.references ?? row.first;
    if (expected === undefined) expect(refusal(row, [{ url: first }], { images: 'image' })).toBe('image');
    else expect(await wordsAbout(row, [{ url: first }], first)).toContain(expected);
  });

  it('never uses two images without roles as frames', async () => {
    const two = [{ url: first }, { url: last }];
    if (row.references === undefined) expect(refusal(row, two)).toBe('images');
    else expect(await wordsAbout(row, two, first)).toContain(row.references);
  });
});

it('every adapter of videos is in the table', () => {
  const withVideos = Object.entries(providers).flatMap(([name, { video }]) =>
    video === undefined ? [] : [name],
  );
  expect([...new Set(rows.map(({ provider }) => provider))].sort()).toEqual(withVideos.sort());
});
