import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldMappingSchema, type FieldMapping } from '../../../src/models/field-mapping.ts';
import { mappedCost, mappedFacts, mappedLinks } from '../../../src/providers/shared/mapped-answer.ts';
import { valuesAt } from '../../../src/providers/shared/mapped-answer.ts';
import { mappedVideoFacts } from '../../../src/providers/shared/mapped-facts.ts';
import { mappedBody, mappedEndpoint, mappedIssue } from '../../../src/providers/shared/mapped-request.ts';
import { factsFor } from '../../../src/models/facts-of-request.ts';
import type { VideoRequest } from '../../../src/models/request.ts';
import { providers } from '../../../src/providers/index.ts';
import { canned, imageRequest, submitContext, upstreamError, videoIssue, videoRequest } from '../support.ts';

const read = (mapping: object): FieldMapping => fieldMappingSchema.parse({ result: 'video.url', ...mapping });

const video = read({
  endpoints: { text_to_video: 'v/text', first_last_frame: 'v/image', reference: 'v/reference' },
  fields: {
    prompt: 'prompt',
    first_frame: 'image_url',
    last_frame: 'end_image_url',
    images: 'image_urls',
    videos: { name: ['video_1', 'video_2'] },
    audios: { name: 'audio', form: 'one' },
    duration: { name: 'duration', form: 'text', auto: 'auto' },
    resolution: { name: 'quality', values: { '720p': 'hd', '1080p': { tall: 1080 } } },
    ratio: { name: 'aspect_ratio', inputs: ['text_to_video', 'reference'] },
    generate_audio: 'sound',
    seed: 'seed',
    mode: { fixed: ['std'] },
  },
  constants: { safety: true },
  pass: ['negative_prompt', 'cfg'],
  marker: 'end_user_id',
});

describe('a mapping is refused', () => {
  it.each([
    ['without a result', { result: undefined }, 'result'],
    ['with an unknown key', { colour: 1 }, ''],
    ['with an unknown field', { fields: { colour: 'c' } }, 'fields'],
    ['with an unknown endpoint', { endpoints: { text: 'a' } }, 'endpoints'],
    ['with a field that says nothing', { fields: { prompt: {} } }, 'fields.prompt'],
    ['with a name beside fixed values', { fields: { mode: { name: 'm', fixed: ['a'] } } }, 'fields.mode'],
    ['with a form of another field', { fields: { prompt: { name: 'p', form: 'seconds' } } }, 'fields.prompt.form'],
    ['with an open resolution', { fields: { resolution: { name: 'r', auto: 'x' } } }, 'fields.resolution.auto'],
    ['with several names of a text', { fields: { prompt: { name: ['a', 'b'] } } }, 'fields.prompt.name'],
    ['with one side', { fields: { size: { name: 'width', form: 'sides' } } }, 'fields.size.name'],
    ['with a name used twice', { fields: { prompt: 'text', mode: 'text' } }, 'fields.mode'],
    ['with a constant over a field', { fields: { prompt: 'text' }, constants: { text: 'x' } }, 'constants.text'],
    ['with a way past a field', { fields: { prompt: 'text' }, pass: ['text'] }, 'pass'],
    ['with a way past a constant', { constants: { n: 1 }, pass: ['n'] }, 'pass'],
    ['with a marker in a field', { fields: { prompt: 'text' }, marker: 'text' }, 'marker'],
    ['with a path that is none', { result: 'a..b' }, 'result'],
    ['with a price that is none', { cost: { unit: 'USD', price: '-1' } }, 'cost.price'],
  ])('%s', (_, over, path) => {
    const { error } = fieldMappingSchema.safeParse({ fields: {}, result: 'url', ...over });
    expect(error?.issues.map((issue) => issue.path.join('.'))).toContain(path);
  }); // prettier-ignore

  it('accepts one name for inputs that exclude each other', () => {
    const fields = { first_frame: 'image', images: 'image' };
    expect(fieldMappingSchema.safeParse({ fields, result: 'url' }).success).toBe(true);
    const both = { ...fields, images: { name: 'image', inputs: ['first_last_frame'] } };
    expect(fieldMappingSchema.safeParse({ fields: both, result: 'url' }).success).toBe(false);
  });
});

it('the facts of a mapping follow from its fields', () => {
  const facts = mappedVideoFacts(video);
  expect(facts.media).toEqual({ frames: 2, videos: 2, audios: 1, beside_frames: [] });
  expect(Object.keys(facts.parameters ?? {})).toEqual(['negative_prompt', 'cfg']);
  const fieldsOf = (brings: Partial<VideoRequest>) => factsFor({ extra: {}, ...brings }, facts).fields;
  const sent = {
    mode: true,
    resolution: true,
    duration: true,
    generate_audio: true,
    seed: true,
    draft: false,
  };
  expect(fieldsOf({})).toMatchObject({ ...sent, ratio: true });
  expect(fieldsOf({ firstFrame: url })).toMatchObject({ ...sent, ratio: false });
  expect(fieldsOf({ videos: [url] })).toMatchObject({ ...sent, ratio: true });
  expect(fieldsOf({ firstFrame: url, videos: [url] })).toMatchObject({ ...sent, ratio: false });
  const beside = { first_frame: 'a', audios: { name: 'b', inputs: ['first_last_frame'] } };
  expect(
    mappedVideoFacts(read({ fields: beside, endpoints: { first_last_frame: 'v/image' } })).media,
  ).toEqual({ frames: 1, references: 0, videos: 0, beside_frames: ['audios'] });
  expect(mappedVideoFacts(read({ fields: beside, endpoints: { reference: 'v/r' } })).media).toEqual({
    frames: 0,
    references: 0,
    videos: 0,
    audios: 0,
    beside_frames: [],
  });
});

const url = 'https://i.example/a.png';

describe('a request', () => {
  it('of text', () => {
    const request = videoRequest({
      prompt: 'a fox',
      duration: 5,
      resolution: '720p',
      ratio: '16:9',
      seed: 0,
    });
    expect(mappedIssue(request, video)).toBeUndefined();
    expect(mappedEndpoint(request, video, 'v')).toBe('v/text');
    expect(mappedBody(request, video, { marker: 'marker-1' })).toEqual({
      prompt: 'a fox',
      duration: '5',
      quality: 'hd',
      aspect_ratio: '16:9',
      seed: 0,
      safety: true,
      end_user_id: 'marker-1',
    });
  });

  it('of frames, with a resolution that is an object, and a length that is open', () => {
    const request = videoRequest({
      firstFrame: url,
      lastFrame: `${url}?2`,
      duration: 'auto',
      resolution: '1080p',
      generateAudio: false,
      extra: { cfg: 0.5, other: 1, safety: false, end_user_id: 'x', prompt: 'y' },
    });
    expect(mappedIssue(request, video)).toBeUndefined();
    expect(mappedEndpoint(request, video, 'v')).toBe('v/image');
    expect(mappedBody(request, video, { marker: 'marker-1' })).toEqual({
      cfg: 0.5,
      prompt: 'a fox in the snow',
      image_url: url,
      end_image_url: `${url}?2`,
      duration: 'auto',
      quality: { tall: 1080 },
      sound: false,
      safety: true,
      end_user_id: 'marker-1',
    });
  });

  it('includes what the configuration adds to the mapping, but never overrides it', () => {
    const extra = {
      cfg_scale: 0.5,
      motion: 1,
      quality: 'x',
      image_url: 'x',
      safety: false,
      end_user_id: 'x',
    };
    const facts = { parameters: { cfg_scale: { sent_as: 'cfg2' } }, other_parameters: true };
    expect(mappedBody(videoRequest({ extra }), video, { marker: 'marker-1', facts })).toEqual({
      cfg2: 0.5,
      motion: 1,
      prompt: 'a fox in the snow',
      safety: true,
      end_user_id: 'marker-1',
    });
  });

  it('of references: a list, numbered fields, and one', () => {
    const request = videoRequest({ references: [url, url], videos: ['v'], audios: ['a'] });
    expect(mappedIssue(request, video)).toBeUndefined();
    expect(mappedBody(request, video, { marker: 'm' })).toMatchObject({
      image_urls: [url, url],
      video_1: 'v',
      audio: 'a',
    });
    expect(mappedBody(request, video, { marker: 'm' })).not.toHaveProperty('video_2');
  });

  it.each([
    ['an input without an endpoint', { firstFrame: url }, 'input_type'],
    ['a ratio that is not mapped', { ratio: '16:9' }, 'ratio'],
    ['a seed that is not mapped', { seed: 1 }, 'metadata.seed'],
    ['sound that is not mapped', { generateAudio: false }, 'metadata.generate_audio'],
    ['a draft', { draft: true }, 'metadata.draft'],
    ['tools', { tools: 'web' }, 'metadata.tools'],
    ['an open duration', { duration: 'auto' }, 'duration'],
    ['a value that is not listed', { resolution: '480p' }, 'resolution'],
    ['a value that is not the fixed one', { mode: 'pro' }, 'mode'],
    ['references without a field', { videos: ['v'] }, 'videos'],
    ['three for two names', { references: [url, url, url] }, 'references'],
  ] as const)('is refused with %s', (_, over, param) => {
    const mapping = read({
      endpoints: { text_to_video: 'v/text', reference: 'v/reference' },
      fields: {
        prompt: 'prompt',
        duration: 'duration',
        images: { name: ['image_1', 'image_2'] },
        resolution: { name: 'resolution', values: { '720p': 'hd' } },
        mode: { fixed: ['std'] },
      },
    });
    expect(mappedIssue(videoRequest(over), mapping)?.param).toBe(param);
  });

  it('needs no field for values without an effect', () => {
    const mapping = read({
      fields: { prompt: 'prompt', duration: { name: 'd', form: 'seconds' }, mode: { fixed: ['std'] } },
    });
    const request = videoRequest({
      duration: 8,
      mode: 'std',
      draft: false,
      watermark: false,
      returnLastFrame: false,
      safetyIdentifier: 'user',
    });
    expect(mappedIssue(request, mapping)).toBeUndefined();
    expect(mappedBody(request, mapping, { marker: 'm' })).toEqual({ prompt: 'a fox in the snow', d: '8s' });
    expect(mappedEndpoint(request, mapping, 'v')).toBe('v');
  });

  it('with a ratio is refused if the input has none', () => {
    const frames = videoRequest({ firstFrame: url, ratio: '16:9' });
    expect(mappedIssue(frames, video)?.param).toBe('ratio');
  });

  it.each([
    ['text', { name: 'size' }, { size: '1024x512' }],
    ['an object', { name: 'image_size', form: 'object' }, { image_size: { width: 1024, height: 512 } }],
    ['two sides', { name: ['width', 'height'], form: 'sides' }, { width: 1024, height: 512 }],
    ['a name', { name: 'image_size', values: { '1024x512': 'landscape' } }, { image_size: 'landscape' }],
  ])('of an image has its size as %s', (_, size, expected) => {
    const mapping = read({ fields: { prompt: 'prompt', size } });
    const request = imageRequest({ size: '1024x512' });
    expect(mappedIssue(request, mapping)).toBeUndefined();
    expect(mappedBody(request, mapping, { marker: 'm' })).toEqual({ prompt: 'a red cube', ...expected });
  });

  it('of an edit contains its images as URLs or data URLs, and its number', () => {
    const mapping = read({
      endpoints: { generate: 'i', edit: 'i/edit' },
      fields: { prompt: 'prompt', images: 'image_urls', mask: 'mask_url', n: 'num_images' },
    });
    const data = { form: 'data', mediaType: 'image/png', base64: 'QUJD' } as const;
    const request = imageRequest({
      operation: 'edit',
      images: [{ form: 'url', url }, data],
      mask: data,
      n: 2,
    });
    expect(mappedIssue(request, mapping)).toBeUndefined();
    expect(mappedEndpoint(request, mapping, 'i')).toBe('i/edit');
    expect(mappedEndpoint(imageRequest(), mapping, 'i')).toBe('i');
    const address = 'data:image/png;base64,QUJD';
    expect(mappedBody(request, mapping, { marker: 'm' })).toEqual({
      prompt: 'a red cube',
      image_urls: [url, address],
      mask_url: address,
      num_images: 2,
    });
  });

  it.each([
    ['several images without a field', { n: 2 }, 'n'],
    ['an edit without an endpoint', { images: [{ form: 'url', url }] }, 'image'],
    ['a size in words', { size: 'auto' }, 'size'],
    ['a quality without a field', { quality: 'high' }, 'quality'],
  ] as const)('of an image is refused with %s', (_, over, param) => {
    const mapping = read({
      endpoints: { generate: 'i' },
      fields: { prompt: 'prompt', size: { name: 'image_size', form: 'object' } },
    });
    expect(mappedIssue(imageRequest(over), mapping)?.param).toBe(param);
    expect(mappedIssue(imageRequest({ n: 1 }), mapping)).toBeUndefined();
  });

  it('passes on what is listed and nothing else, whatever callers add', () => {
    const names = fc.oneof(
      fc.constantFrom(
        'negative_prompt',
        'cfg',
        'prompt',
        'safety',
        'end_user_id',
        'duration',
        'image_url',
        '__proto__',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.dictionary(
          names,
          fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
        ),
        (extra) => {
          const plain = mappedBody(videoRequest({ duration: 5 }), video, { marker: 'marker-1' });
          const body = mappedBody(videoRequest({ duration: 5, extra }), video, { marker: 'marker-1' });
          const { negative_prompt: words, cfg, ...rest } = body;
          expect(rest).toEqual(plain);
          expect([words, cfg]).toEqual(
            ['negative_prompt', 'cfg'].map((name) => (Object.hasOwn(extra, name) ? extra[name] : undefined)),
          );
        },
      ),
    );
  });
});

describe('a response', () => {
  it.each([
    ['video.url', { video: { url } }, [url]],
    ['images[].url', { images: [{ url }, { url: `${url}?2` }, {}] }, [url, `${url}?2`]],
    ['images.url', { images: [{ url }] }, [url]],
    ['images.1.url', { images: [{ url: 'https://other.example' }, { url }] }, [url]],
    ['output', { output: url }, [url]],
    ['output', { output: [url, url] }, [url, url]],
    ['output', { output: { first: url, more: [{ at: url }], text: 'no' } }, [url, url]],
    ['output', { output: null, prompt: url }, []],
    ['video.url', 'text', []],
    ['video.url', { video: { url: 'javascript:alert(1)' } }, []],
    ['constructor.name', {}, []],
  ])('has its links at %s: %j', (result, answer, expected) => {
    expect(mappedLinks(answer, { result })).toEqual(expected);
  });

  it('reports its facts from their mapped places, but no zeros', () => {
    const facts = {
      duration: 'v.seconds',
      resolution: 'r',
      total_tokens: 'u.total',
      completion_tokens: 'u.out',
    };
    const mapping = read({ fields: {}, facts });
    expect(mappedFacts({ v: { seconds: '5' }, r: 720, u: { total: 9 } }, mapping)).toEqual({
      durationSeconds: 5,
      resolution: '720',
      usage: { totalTokens: 9 },
    });
    expect(mappedFacts({ v: { seconds: 0 }, u: { total: 'many' } }, mapping)).toEqual({});
    expect(mappedFacts(undefined, mapping)).toEqual({});
  });

  it.each([
    ['5', '0.3024', '1.512'],
    ['41.25', '0.0001', '0.004125'],
    ['3', '1', '3'],
    ['0', '1', undefined],
    ['many', '1', undefined],
    [undefined, '1', undefined],
  ])('%s units at %s cost %s, exactly', (units, price, amount) => {
    const mapping = read({ fields: {}, cost: { unit: 'USD', price } });
    expect(mappedCost({}, mapping, units)).toEqual(
      amount === undefined ? undefined : { amount, unit: 'USD' },
    );
  });

  it('counts items if the mapping says so', () => {
    const mapping = read({ fields: {}, cost: { unit: 'USD', price: 0.5, units: 'metrics.predict_time' } });
    expect(mappedCost({ metrics: { predict_time: 2.5 } }, mapping, '9')).toEqual({
      amount: '1.25',
      unit: 'USD',
    });
    expect(mappedCost({}, mapping, '9')).toBeUndefined();
    expect(mappedCost({}, read({ fields: {} }), '9')).toBeUndefined();
  });

  it('is read by own properties only', () => {
    expect(valuesAt({ a: [{ b: 1 }, { b: [2, 3] }] }, 'a.b')).toEqual([1, [2, 3]]);
  });
});

it.each(['fal', 'replicate'])('%s needs a mapping, and without one nothing is sent', async (name) => {
  const part = providers[name]?.video;
  const { request, sent } = canned();
  const model = 'owner/model';
  expect(videoIssue(part, videoRequest(), model)).toMatchObject({ param: 'model' });
  const submitted = part?.submit(videoRequest(), submitContext({ model, request }));
  const error = await upstreamError(submitted ?? Promise.resolve());
  expect([error.outcome, error.code, sent]).toEqual(['unavailable', 'mapping_missing', []]);
});
