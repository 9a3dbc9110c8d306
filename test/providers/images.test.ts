import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { factsFor } from '../../src/models/facts-of-request.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import type { ImageInput, ImageRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { canned, fixture, imageRequest, providerContext, upstreamError } from './support.ts';
import type { CannedAnswer } from './support.ts';
import { imageTables } from './vendor-tables.ts';

const seedream = 'doubao-seedream-4-5-251128';

function use(name: string, model: string) {
  const image = providers[name]?.image;
  if (image === undefined) throw new Error(`${name} makes no images`);
  return {
    generate: async (request: Partial<ImageRequest>, ...answers: CannedAnswer[]) => {
      const upstream = canned(...answers);
      const context = providerContext({ model, request: upstream.request, baseUrl: 'https://up.example/v1' });
      const result = await image.generate(imageRequest(request), context);
      const [sent] = upstream.sent;
      if (sent === undefined) throw new Error('nothing was sent');
      return { ...result, sent };
    },
    tokens: (over: Partial<ImageRequest>) => {
      const request = imageRequest(over);
      const facts = factsFor(request, servedFacts(image.facts, { upstream: model }));
      return image.estimateTokens?.(request, facts, model);
    },
    perCall: image.facts === undefined ? undefined : servedFacts(image.facts, { upstream: model }).per_call,
    imageForms: image.imageForms,
  };
}

const link: ImageInput = { form: 'url', url: 'https://ex.com/a.png' };
const data: ImageInput = {
  form: 'data',
  mediaType: 'image/jpeg',
  base64: Buffer.from('JPEG!').toString('base64'),
};

async function file(content: string): Promise<ImageInput> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'upload');
  await writeFile(path, content);
  return { form: 'file', mediaType: 'image/png', path, name: 'cat.png', bytes: content.length };
}

async function partsOf(form: FormData | undefined): Promise<[string, string, string][]> {
  const parts: [string, string, string][] = [];
  for (const [name, value] of form ?? []) {
    parts.push(typeof value === 'string' ? [name, '', value] : [name, value.name, await value.text()]);
  }
  return parts;
}

describe('Seedream', () => {
  it('generates with a link that is valid for a day', async () => {
    const { sent, images, facts } = await use('ark', seedream).generate(
      { size: '2048x2048', extra: { watermark: false, stream: true, model: 'x', user: 'u' } },
      { json: fixture('ark/images') },
    );
    expect(sent).toMatchObject({ method: 'POST', url: 'https://up.example/v1/images/generations' });
    expect(sent.json).toEqual({
      model: seedream,
      prompt: 'a red cube',
      response_format: 'url',
      size: '2048x2048',
      watermark: false,
    });
    expect(images).toEqual([
      { url: 'https://files.example.com/a.jpeg', expiresAt: 1_757_321_139 + 86_400, size: '2048x2048' },
    ]);
    expect(facts).toEqual({ images: 1, usage: { completionTokens: 16_384, totalTokens: 16_384 } });
  });

  it('accepts one image as text and several as a list, also for an edit', async () => {
    const one = await use('ark', seedream).generate(
      { operation: 'edit', images: [link] },
      { json: fixture('ark/images') },
    );
    expect(one.sent.url).toMatch(/\/images\/generations$/);
    expect(one.sent.json?.['image']).toBe('https://ex.com/a.png');
    const two = await use('ark', seedream).generate(
      { images: [link, data] },
      { json: fixture('ark/images') },
    );
    expect(two.sent.json?.['image']).toEqual(['https://ex.com/a.png', 'data:image/jpeg;base64,SlBFRyE=']);
  });

  it('delivers the images of a group that were rendered, and fails if none was', async () => {
    const refused = { error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } };
    const some = await use('ark', seedream).generate(
      {},
      { json: { data: [refused, { url: 'https://ex.com/x' }] } },
    );
    expect(some.images).toEqual([{ url: 'https://ex.com/x' }]);
    expect(some.facts.images).toBe(1);
    const error = await upstreamError(use('ark', seedream).generate({}, { json: { data: [refused] } }));
    expect([error.outcome, error.code]).toEqual(['rejected', 'OutputImageSensitiveContentDetected']);
  });

  imageTables(providers['ark']?.image).checks([
    ['plain', {}, seedream, undefined],
    ['2K', { size: '2K' }, seedream, undefined],
    ['too small for 4.5', { size: '1024x1024' }, seedream, 'size'],
    ['small enough for 4.0', { size: '1024x1024' }, 'doubao-seedream-4-0-250828', undefined],
    ['1K of 4.5', { size: '1K' }, seedream, 'size'],
    ['1024x1024 of 5.0 lite', { size: '1024x1024' }, 'seedream-5-0-260128', 'size'],
    ['3K of 5.0 lite', { size: '3K' }, 'seedream-5-0-lite-260128', undefined],
    ['3K of 5.0 pro', { size: '3K' }, 'dola-seedream-5-0-pro-260628', 'size'],
    ['2560x1440 of 5.0 pro', { size: '2560x1440' }, 'dola-seedream-5-0-pro-260628', undefined],
    ['2560x1450 of 5.0 pro', { size: '2560x1450' }, 'dola-seedream-5-0-pro-260628', 'size'],
    ['4K of 5.0 pro', { size: '4096x4096' }, 'dola-seedream-5-0-pro-260628', 'size'],
    ['1.5K of 5.5', { size: '1.5K' }, 'dola-seedream-5-5-261028', undefined],
    ['a transparent jpeg', { extra: { background: 'transparent', output_format: 'jpeg' } }, 'dola-seedream-5-5-261028', 'background'],
    ['eleven images of 5.0 pro', { images: Array.from({ length: 11 }, () => link) }, 'dola-seedream-5-0-pro-260628', 'image'],
    ['too large', { size: '8192x4096' }, seedream, 'size'],
    ['too long', { size: '16400x1000' }, 'seedream-4-0-250828', 'size'],
    ['a word', { size: 'large' }, seedream, 'size'],
    ['fifteen images', { images: Array.from({ length: 15 }, () => link) }, seedream, 'image'],
    ['an image for a text model', { images: [link] }, 'doubao-seedream-3-0-t2i-250415', 'image'],
    ['an edit without an image', {}, 'doubao-seededit-3-0-i2i-250628', 'image'],
    ['a size of an edit', { images: [link], size: '1024x1024' }, 'doubao-seededit-3-0-i2i-250628', 'size'],
    ['a mask', { images: [link], mask: data }, seedream, 'mask'],
    ['a group', { extra: { sequential_image_generation: 'auto' } }, seedream, 'sequential_image_generation'],
  ]); // prettier-ignore
});

describe('OpenAI', () => {
  it('generates, and returns the known parts of the response', async () => {
    const { sent, images, facts, extra } = await use('openai', 'gpt-image-1.5').generate(
      {
        n: 2,
        size: '1024x1024',
        quality: 'medium',
        responseFormat: 'url',
        extra: { background: 'opaque', seed: 1 },
      },
      { json: fixture('openai/images') },
    );
    expect(sent.url).toBe('https://up.example/v1/images/generations');
    // The model would reject `response_format` and does not support a seed, so neither may be sent.
    expect(sent.json).toEqual({
      model: 'gpt-image-1.5',
      prompt: 'a red cube',
      n: 2,
      size: '1024x1024',
      quality: 'medium',
      background: 'opaque',
    });
    expect(images).toEqual([{ base64: 'iVBORw0KGgo=' }]);
    expect(facts).toEqual({
      images: 1,
      size: '1024x1024',
      quality: 'medium',
      usage: { completionTokens: 1056, totalTokens: 1107, inputTextTokens: 51, inputImageTokens: 0 },
    });
    expect(extra).toMatchObject({ background: 'opaque', output_format: 'png', usage: { input_tokens: 51 } });
  });

  it('edits with files', async () => {
    const { sent } = await use('openai', 'gpt-image-1.5').generate(
      {
        operation: 'edit',
        images: [await file('PNG!'), data],
        mask: await file('MASK'),
        extra: { input_fidelity: 'high', moderation: 'low', output_compression: 80 },
      },
      { json: fixture('openai/images') },
    );
    expect(sent.url).toBe('https://up.example/v1/images/edits');
    expect(await partsOf(sent.form)).toEqual([
      ['input_fidelity', '', 'high'],
      ['output_compression', '', '80'],
      ['model', '', 'gpt-image-1.5'],
      ['prompt', '', 'a red cube'],
      ['n', '', '1'],
      ['image[]', 'cat.png', 'PNG!'],
      ['image[]', 'image.jpg', 'JPEG!'],
      ['mask', 'cat.png', 'MASK'],
    ]);
  });

  it('a single file has the singular field name, and an image on the generation route makes an edit', async () => {
    const { sent } = await use('openai', 'gpt-image-1.5').generate(
      { images: [data] },
      { json: fixture('openai/images') },
    );
    expect(sent.url).toMatch(/\/edits$/);
    expect((await partsOf(sent.form)).at(-1)).toEqual(['image', 'image.jpg', 'JPEG!']);
  });

  it('links of the older models are valid for an hour', async () => {
    const json = { created: 100, data: [{ url: 'https://ex.com/x.png', revised_prompt: 'r' }] };
    const { sent, images } = await use('openai', 'dall-e-3').generate(
      { extra: { style: 'vivid' } },
      { json },
    );
    expect(sent.json).toMatchObject({ response_format: 'url', style: 'vivid' });
    expect(images).toEqual([{ url: 'https://ex.com/x.png', expiresAt: 3_700 }]);
  });

  it('one call makes as many images as the model allows', () => {
    expect(use('openai', 'dall-e-3').perCall).toBeUndefined();
    expect(use('openai', 'gpt-image-1.5').perCall).toBe(10);
    expect(use('openai', 'gpt-image-1.5').imageForms).toEqual(['file', 'data']);
  });

  it.each([{}, { data: [] }, { data: [{}] }, { data: 'x' }])(
    'a success without an image is ambiguous: %j',
    async (json) => {
      const error = await upstreamError(use('openai', 'gpt-image-1.5').generate({}, { json }));
      expect([error.outcome, error.code]).toEqual(['ambiguous', 'unreadable_answer']);
    },
  );

  imageTables(providers['openai']?.image).checks([
    ['a known size', { size: '1536x1024' }, 'gpt-image-1.5', undefined],
    ['an unknown size', { size: '800x600' }, 'gpt-image-1.5', 'size'],
    ['a free size', { size: '1920x1088' }, 'gpt-image-2', undefined],
    ['a free size off the grid', { size: '1920x1080' }, 'gpt-image-2', 'size'],
    ['a free size too long', { size: '3840x160' }, 'gpt-image-2', 'size'],
    ['a quality of another model', { quality: 'hd' }, 'gpt-image-1.5', 'quality'],
    ['a quality above high', { quality: 'max' }, 'gpt-image-2.5-flare', undefined],
    ['a quality above high of an older model', { quality: 'max' }, 'gpt-image-2', 'quality'],
    ['a quality that only the vendor knows', { quality: 'max' }, 'gpt-image-2.6-sunburst', undefined],
    ['a complexity', { extra: { complexity: 'high' } }, 'gpt-image-2.6-flare', undefined],
    ['a complexity that there is not', { extra: { complexity: 'huge' } }, 'gpt-image-2.5-flare', 'complexity'],
    ['high fidelity of the small model', { images: [data], extra: { input_fidelity: 'high' } }, 'gpt-image-1-mini', 'input_fidelity'],
    ['hd', { quality: 'hd' }, 'dall-e-3', undefined],
    ['an image for dall-e-3', { images: [data] }, 'dall-e-3', 'image'],
    ['two images for dall-e-2', { images: [data, data] }, 'dall-e-2', 'image'],
    ['a mask alone', { mask: data }, 'gpt-image-1.5', 'mask'],
  ]); // prettier-ignore

  it.each<[string, Partial<ImageRequest>, bigint]>([
    ['gpt-image-1.5', { quality: 'low', size: '1024x1024' }, 272n],
    ['gpt-image-1.5', {}, 6_240n],
    ['gpt-image-2', { quality: 'high', size: '1024x1024' }, 7_024n],
    ['gpt-image-2.5-flare', { quality: 'high', size: '1024x1024', n: 2 }, 3_512n],
    ['gpt-image-2.5-flare', { quality: 'xhigh', size: '1024x1024' }, 3_122n],
    ['gpt-image-2.5-flare', { quality: 'auto', size: '1024x1024' }, 7_024n],
    ['gpt-image-2.6-sunburst', { quality: 'low', size: '1024x1024' }, 7_024n],
    ['gpt-image-2.5-flare', { quality: 'low', size: '3840x2160' }, 1_551n],
  ])('%s includes the tokens of %j', (model, over, tokens) => {
    expect(use('openai', model).tokens(over)).toBe(tokens);
  });
});

describe('another gateway', () => {
  it('receives every field that it may know', async () => {
    const { sent } = await use('gateway', 'gpt-image-1.5').generate(
      { n: 3, responseFormat: 'b64_json', extra: { seed: 1, stream: true, model: 'x' }, images: [link] },
      { json: fixture('openai/images') },
    );
    expect(sent.url).toBe('https://up.example/v1/images/generations');
    expect(sent.json).toEqual({
      seed: 1,
      model: 'gpt-image-1.5',
      prompt: 'a red cube',
      n: 3,
      response_format: 'b64_json',
      image: 'https://ex.com/a.png',
    });
  });

  it('gets files as a form and addresses beside them as text', async () => {
    const { sent } = await use('gateway', 'm').generate(
      { operation: 'edit', images: [await file('PNG!'), link] },
      { json: { data: [{ b64_json: 'data:image/png;base64,QUJD' }] } },
    );
    expect(sent.url).toBe('https://up.example/v1/images/edits');
    expect((await partsOf(sent.form)).slice(-2)).toEqual([
      ['image[]', 'cat.png', 'PNG!'],
      ['image[]', '', 'https://ex.com/a.png'],
    ]);
  });

  it('may return a data URL where base64 or a link is expected', async () => {
    const json = {
      data: [{ b64_json: 'data:image/png;base64,QUJD' }, { url: 'data:image/png;base64,REVG' }],
    };
    expect((await use('gateway', 'm').generate({}, { json })).images).toEqual([
      { base64: 'QUJD' },
      { base64: 'REVG' },
    ]);
  });

  it('may respond with a task, in which the images are found later', async () => {
    const json = { task_id: 'task_1', status: 'submitted' };
    expect(await use('gateway', 'm').generate({}, { json })).toMatchObject({ images: [], job: 'task_1' });
  });
});
