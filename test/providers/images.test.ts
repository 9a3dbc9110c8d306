import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { factsFor } from '../../src/models/model-facts.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import type { ImageInput, ImageRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { canned, fixture, imageIssue, imageRequest, providerContext, upstreamError } from './support.ts';
import type { CannedAnswer } from './support.ts';

const seedream = 'doubao-seedream-4-5-251128';

function use(name: string, model: string) {
  const image = providers[name]?.image;
  if (image === undefined) throw new Error(`${name} makes no images`);
  return {
    check: (request: Partial<ImageRequest>) => imageIssue(image, imageRequest(request), model)?.param,
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
  it('generates with a link that lives a day', async () => {
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
    expect(facts).toEqual({
      images: 1,
      usage: { completionTokens: 16_384, totalTokens: 16_384 },
    });
  });

  it('takes one image as text and several as a list, also for an edit', async () => {
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

  it('delivers what was made of a group, and fails if nothing was', async () => {
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

  it.each<[string, string, Partial<ImageRequest>, string | undefined]>([
    ['plain', seedream, {}, undefined],
    ['2K', seedream, { size: '2K' }, undefined],
    ['too small for 4.5', seedream, { size: '1024x1024' }, 'size'],
    ['small enough for 4.0', 'doubao-seedream-4-0-250828', { size: '1024x1024' }, undefined],
    ['1K of 4.5', seedream, { size: '1K' }, 'size'],
    ['1024x1024 of 5.0 lite', 'seedream-5-0-260128', { size: '1024x1024' }, 'size'],
    ['3K of 5.0 lite', 'seedream-5-0-lite-260128', { size: '3K' }, undefined],
    ['3K of 5.0 pro', 'dola-seedream-5-0-pro-260628', { size: '3K' }, 'size'],
    ['2560x1440 of 5.0 pro', 'dola-seedream-5-0-pro-260628', { size: '2560x1440' }, undefined],
    ['2560x1450 of 5.0 pro', 'dola-seedream-5-0-pro-260628', { size: '2560x1450' }, 'size'],
    ['4K of 5.0 pro', 'dola-seedream-5-0-pro-260628', { size: '4096x4096' }, 'size'],
    ['1.5K of 5.5', 'dola-seedream-5-5-261028', { size: '1.5K' }, undefined],
    [
      'a transparent jpeg',
      'dola-seedream-5-5-261028',
      { extra: { background: 'transparent', output_format: 'jpeg' } },
      'background',
    ],
    [
      'eleven images of 5.0 pro',
      'dola-seedream-5-0-pro-260628',
      { images: Array.from({ length: 11 }, () => link) },
      'image',
    ],
    ['too large', seedream, { size: '8192x4096' }, 'size'],
    ['too long', 'seedream-4-0-250828', { size: '16400x1000' }, 'size'],
    ['a word', seedream, { size: 'large' }, 'size'],
    ['fifteen images', seedream, { images: Array.from({ length: 15 }, () => link) }, 'image'],
    ['an image for a text model', 'doubao-seedream-3-0-t2i-250415', { images: [link] }, 'image'],
    ['an edit without an image', 'doubao-seededit-3-0-i2i-250628', {}, 'image'],
    ['a size of an edit', 'doubao-seededit-3-0-i2i-250628', { images: [link], size: '1024x1024' }, 'size'],
    ['a mask', seedream, { images: [link], mask: data }, 'mask'],
    ['a group', seedream, { extra: { sequential_image_generation: 'auto' } }, 'sequential_image_generation'],
  ])('check: %s', (_, model, request, param) => {
    expect(use('ark', model).check(request)).toBe(param);
  });
});

describe('OpenAI', () => {
  it('generates, and hands on what the response shape knows', async () => {
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
    // No response_format: the model would refuse it. No seed: it is not known.
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

  it('one file goes by the singular name, and an image on the generation route is an edit', async () => {
    const { sent } = await use('openai', 'gpt-image-1.5').generate(
      { images: [data] },
      { json: fixture('openai/images') },
    );
    expect(sent.url).toMatch(/\/edits$/);
    expect((await partsOf(sent.form)).at(-1)).toEqual(['image', 'image.jpg', 'JPEG!']);
  });

  it('links of the older models live an hour', async () => {
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

  it.each([
    [400, { code: 'invalid_value' }, 'rejected'],
    [400, { type: 'image_generation_user_error', code: 'moderation_blocked' }, 'rejected'],
    [400, { code: 'billing_hard_limit_reached' }, 'unavailable'],
    [401, { code: 'invalid_api_key' }, 'unavailable'],
    [403, { type: 'invalid_request_error', code: null }, 'unavailable'],
    [404, { code: 'model_not_found' }, 'unavailable'],
    [429, { code: 'rate_limit_exceeded' }, 'throttled'],
    [429, { code: 'insufficient_quota' }, 'unavailable'],
    [500, { type: 'server_error' }, 'ambiguous'],
    [503, { type: 'server_error' }, 'throttled'],
  ])('%i %j is %s', async (status, said, outcome) => {
    const json = { error: { message: 'words', param: null, ...said } };
    const error = await upstreamError(use('openai', 'gpt-image-1.5').generate({}, { status, json }));
    expect(error.outcome).toBe(outcome);
  });

  it.each([{}, { data: [] }, { data: [{}] }, { data: 'x' }])(
    'a success without an image is ambiguous: %j',
    async (json) => {
      const error = await upstreamError(use('openai', 'gpt-image-1.5').generate({}, { json }));
      expect([error.outcome, error.code]).toEqual(['ambiguous', 'unreadable_answer']);
    },
  );

  it.each<[string, string, Partial<ImageRequest>, string | undefined]>([
    ['a known size', 'gpt-image-1.5', { size: '1536x1024' }, undefined],
    ['an unknown size', 'gpt-image-1.5', { size: '800x600' }, 'size'],
    ['a free size', 'gpt-image-2', { size: '1920x1088' }, undefined],
    ['a free size off the grid', 'gpt-image-2', { size: '1920x1080' }, 'size'],
    ['a free size too long', 'gpt-image-2', { size: '3840x160' }, 'size'],
    ['a quality of another model', 'gpt-image-1.5', { quality: 'hd' }, 'quality'],
    ['a quality above high', 'gpt-image-2.5-flare', { quality: 'max' }, undefined],
    ['a quality above high of an older model', 'gpt-image-2', { quality: 'max' }, 'quality'],
    ['a quality that only the vendor knows', 'gpt-image-2.6-sunburst', { quality: 'max' }, undefined],
    ['a complexity', 'gpt-image-2.6-flare', { extra: { complexity: 'high' } }, undefined],
    [
      'a complexity that there is not',
      'gpt-image-2.5-flare',
      { extra: { complexity: 'huge' } },
      'complexity',
    ],
    [
      'high fidelity of the small model',
      'gpt-image-1-mini',
      { images: [data], extra: { input_fidelity: 'high' } },
      'input_fidelity',
    ],
    ['hd', 'dall-e-3', { quality: 'hd' }, undefined],
    ['an image for dall-e-3', 'dall-e-3', { images: [data] }, 'image'],
    ['two images for dall-e-2', 'dall-e-2', { images: [data, data] }, 'image'],
    ['a mask alone', 'gpt-image-1.5', { mask: data }, 'mask'],
  ])('check: %s', (_, model, request, param) => {
    expect(use('openai', model).check(request)).toBe(param);
  });

  it.each<[string, Partial<ImageRequest>, bigint]>([
    ['gpt-image-1.5', { quality: 'low', size: '1024x1024' }, 272n],
    ['gpt-image-1.5', {}, 6_240n],
    ['gpt-image-2', { quality: 'high', size: '1024x1024' }, 7_024n],
    ['gpt-image-2.5-flare', { quality: 'high', size: '1024x1024', n: 2 }, 3_512n],
    ['gpt-image-2.5-flare', { quality: 'xhigh', size: '1024x1024' }, 3_122n],
    ['gpt-image-2.5-flare', { quality: 'auto', size: '1024x1024' }, 7_024n],
    ['gpt-image-2.6-sunburst', { quality: 'low', size: '1024x1024' }, 7_024n],
    ['gpt-image-2.5-flare', { quality: 'low', size: '3840x2160' }, 1_551n],
  ])('%s holds the tokens of %j', (model, over, tokens) => {
    expect(use('openai', model).tokens(over)).toBe(tokens);
  });
});

describe('another gateway', () => {
  it('gets every field that it may know', async () => {
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

  it('may give a data URL where base64 or a link is expected', async () => {
    const json = {
      data: [{ b64_json: 'data:image/png;base64,QUJD' }, { url: 'data:image/png;base64,REVG' }],
    };
    expect((await use('gateway', 'm').generate({}, { json })).images).toEqual([
      { base64: 'QUJD' },
      { base64: 'REVG' },
    ]);
  });

  it('may answer with a task, in which the images are found later', async () => {
    const json = { task_id: 'task_1', status: 'submitted' };
    expect(await use('gateway', 'm').generate({}, { json })).toMatchObject({ images: [], job: 'task_1' });
  });
});
