import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnce, type Answer, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { contractYaml, startSameInterface, type SameInterface } from './same-interface.ts';

/** Tests section 2.1 of the interface document: the fields of a request, as the upstream receives them. */

let upstream: SameInterface;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  upstream = await startSameInterface();
  gateway = await startGateway({ yaml: contractYaml(upstream.url) });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const image = (name: string) => `https://media.example/${name}.png`;
const video = 'https://media.example/v.mp4';
const audio = 'https://media.example/a.mp3';

const create = (body: Record<string, unknown>): Promise<Answer> =>
  createOnce(account.call, '/v1/videos/generations', { model: 'clip', prompt: 'a boat', ...body });

let requests = 0;

async function sent(body: Record<string, unknown>): Promise<Record<string, any>> {
  const prompt = `a boat, ${(requests += 1)}.`;
  const created = await create({ prompt, ...body });
  expect([created.status, created.body]).toMatchObject([200, { status: 'submitted' }]);
  return upstream.videoCreate(prompt);
}

async function refused(body: Record<string, unknown>): Promise<{ code: string; param: string }> {
  const { status, body: answer } = await create(body);
  expect(status).toBe(400);
  return answer.error;
}

it('model and prompt are enough, and both arrive', async () => {
  expect(await sent({})).toMatchObject({
    model: 'up-clip',
    prompt: expect.stringMatching(/^a boat/),
    input_type: 'text_to_video',
  });
});

it.each(['model', 'prompt'])('without %s a create is refused', async (field) => {
  expect(await refused({ [field]: undefined })).toMatchObject({ code: 'missing_parameter', param: field });
});

it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['mode', { mode: 'pro' }, { mode: 'pro' }],
  ['input_type', { input_type: 'reference', images: [image('a')] }, { input_type: 'reference' }],
  ['image', { image: image('a') }, { images: [image('a')] }],
  ['images', { images: [image('a'), image('b')] }, { images: [image('a'), image('b')] }],
  ['videos', { videos: [video] }, { videos: [video] }],
  ['audios', { images: [image('a')], audios: [audio] }, { audios: [audio] }],
  ['resolution', { resolution: '480p' }, { resolution: '480p' }],
  ['ratio', { ratio: '9:16' }, { ratio: '9:16' }],
  ['size', { size: '1920x1080' }, { resolution: '1080p', ratio: '16:9' }],
  ['duration as a number', { duration: 7 }, { duration: 7 }],
  ['duration as a string', { duration: '7' }, { duration: 7 }],
  ['seconds', { seconds: '8' }, { duration: 8 }],
  ['metadata as an object', { metadata: { seed: 7 } }, { metadata: { seed: 7 } }],
  ['metadata as a JSON string', { metadata: '{"seed": 7, "own": [1]}' }, { metadata: { seed: 7, own: [1] } }],
  ['metadata.draft', { metadata: { draft: true } }, { metadata: { draft: true } }],
  ['metadata.generate_audio', { metadata: { generate_audio: true } }, { metadata: { generate_audio: true } }],
  ['metadata.watermark', { metadata: { watermark: false } }, { metadata: { watermark: false } }],
  [
    'metadata.return_last_frame',
    { metadata: { return_last_frame: true } },
    { metadata: { return_last_frame: true } },
  ],
  ['metadata.seed', { metadata: { seed: -1 } }, { metadata: { seed: -1 } }],
  [
    'metadata.safety_identifier',
    { metadata: { safety_identifier: 'user-1' } },
    { metadata: { safety_identifier: 'user-1' } },
  ],
  [
    'metadata.tools as an object',
    { metadata: { tools: { type: 'web_search' } } },
    { metadata: { tools: { type: 'web_search' } } },
  ],
  [
    'metadata.tools as an array',
    { metadata: { tools: [{ type: 'web_search' }] } },
    { metadata: { tools: [{ type: 'web_search' }] } },
  ],
  [
    'a metadata field that the service does not know',
    { metadata: { camera: { pan: 1 }, service_tier: 'flex' } },
    { metadata: { camera: { pan: 1 }, service_tier: 'flex' } },
  ],
  [
    'an end-to-end request with every field',
    {
      mode: 'fast',
      input_type: 'reference',
      images: [image('a')],
      videos: [video],
      audios: [audio],
      resolution: '720p',
      ratio: '1:1',
      duration: 5,
      metadata: { generate_audio: true, seed: 1 },
    },
    {
      mode: 'fast',
      input_type: 'reference',
      images: [image('a')],
      videos: [video],
      audios: [audio],
      resolution: '720p',
      ratio: '1:1',
      duration: 5,
      metadata: { generate_audio: true, seed: 1 },
    },
  ],
])('%s reaches the upstream', async (_name, body, expected) => {
  expect(await sent(body)).toMatchObject(expected);
});

it('metadata never overrides what the gateway sends itself', async () => {
  const body = await sent({
    resolution: '480p',
    metadata: { model: 'dearer', callback_url: 'https://me.example/hook', execution_expires_after: 60 },
  });
  expect(body).toMatchObject({ model: 'up-clip', resolution: '480p' });
  expect(JSON.stringify(body)).not.toMatch(/dearer|me\.example|execution_expires_after/);
});

describe('what the model does not support', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['image input', { images: [image('a')] }, 'images'],
    ['video input', { videos: [video] }, 'videos'],
    ['audio input', { audios: [audio] }, 'audios'],
    ['1080p', { resolution: '1080p' }, 'resolution'],
    ['another duration', { duration: 9 }, 'duration'],
  ])('%s is rejected by one model and taken by another', async (_name, body, param) => {
    expect(await refused({ model: 'plain', ...body })).toMatchObject({
      code: 'unsupported_parameter',
      param,
    });
    expect((await create(body)).status).toBe(200);
  });

  it('may be ignored, and is then named', async () => {
    const created = await create({ model: 'plain', ratio: '9:16', prompt: 'ignored ratio' });
    expect([created.status, created.body.warnings]).toEqual([200, ['ratio']]);
    expect(await upstream.videoCreate('ignored ratio')).not.toHaveProperty('ratio');
  });
});

describe('addresses', () => {
  it.each(['image', 'images', 'videos', 'audios'])('of %s must be public', async (field) => {
    const address = 'http://10.0.0.1/secret';
    const { code, param } = await refused({ [field]: field === 'image' ? address : [address] });
    expect(code).toBe('media_url_not_allowed');
    expect(param.replace('[0]', '')).toBe(field);
  });
});

describe('compatibility fields', () => {
  it('images counts, where image is sent beside it', async () => {
    const created = await create({ image: image('a'), images: [image('b')], prompt: 'both images' });
    expect(created.body.warnings).toEqual(['image: overruled by images']);
    expect(await upstream.videoCreate('both images')).toMatchObject({ images: [image('b')] });
  });

  it('duration counts, where seconds is sent beside it', async () => {
    const created = await create({ duration: 6, seconds: '9', prompt: 'both durations' });
    expect(created.body.warnings).toEqual(['seconds: overruled by duration']);
    expect(await upstream.videoCreate('both durations')).toMatchObject({ duration: 6 });
  });

  it('metadata means the same as an object and as a JSON string', async () => {
    const metadata = { seed: 3, watermark: true, nested: { a: [1, 'x', null] } };
    const [object, text] = [await sent({ metadata }), await sent({ metadata: JSON.stringify(metadata) })];
    expect(text['metadata']).toEqual(object['metadata']);
    expect(object['metadata']).toMatchObject(metadata);
  });
});

describe('input_type', () => {
  it('text_to_video takes the prompt only', async () => {
    expect(await sent({ input_type: 'text_to_video' })).not.toHaveProperty('images');
    for (const media of [{ images: [image('a')] }, { videos: [video] }, { audios: [audio] }]) {
      expect((await refused({ input_type: 'text_to_video', ...media })).param).toBe('input_type');
    }
  });

  it('first_last_frame takes a start and an end frame, in this order', async () => {
    const frames = [image('first'), image('last')];
    expect(await sent({ input_type: 'first_last_frame', images: frames })).toMatchObject({
      input_type: 'first_last_frame',
      images: frames,
    });
    expect((await refused({ input_type: 'first_last_frame' })).param).toBe('input_type');
  });

  it('first_last_frame with one image is a first frame', async () => {
    const frame = { input_type: 'first_last_frame', images: [image('first')] };
    expect(await sent(frame)).toMatchObject(frame);
  });

  it('absent: images are references, two of them too', async () => {
    const images = [image('a'), image('b')];
    expect(await sent({ images })).toMatchObject({ input_type: 'reference', images });
    const roles = ['first_frame', 'last_frame'].map((role, index) => ({ url: images[index], role }));
    expect(await sent({ images: roles })).toMatchObject({ input_type: 'first_last_frame', images });
  });

  it.each<[string, Record<string, unknown>]>([
    ['images', { images: [image('a')] }],
    ['videos', { videos: [video] }],
    ['audios with generate_audio', { audios: [audio], metadata: { generate_audio: true } }],
    ['images, videos and audios', { images: [image('a')], videos: [video], audios: [audio] }],
  ])('reference accepts %s', async (_name, body) => {
    expect(await sent({ input_type: 'reference', ...body })).toMatchObject({
      ...body,
      input_type: 'reference',
    });
  });

  it('other than the three forms is refused', async () => {
    expect((await refused({ input_type: 'video_to_video' })).param).toBe('input_type');
  });

  it('video input changes the price', async () => {
    const estimate = async (body: object) =>
      (
        await account.call('POST', '/v1/videos/generations/estimate', {
          body: {
            model: 'seedance',
            prompt: 'a boat',
            duration: 5,
            ...body,
          },
        })
      ).body.explanation.hold.lines[0];
    expect(await estimate({})).toMatchObject({ price: '7.000000' });
    expect(await estimate({ videos: [video] })).toMatchObject({ price: '4.300000' });
  });
});
