import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../../src/local/simulator/simulator.ts';
import { arkCaller, image, seedance2, startHarness, tasksPath, testKey, text } from '../support.ts';
import type { ArkCaller, Harness } from '../support.ts';

let harness: Harness;
let ark: ArkCaller;
beforeAll(async () => {
  harness = await startHarness();
  ark = arkCaller(harness);
});
afterAll(() => harness.close());

const pro1 = 'doubao-seedance-1-0-pro-250528';
const liteText = 'doubao-seedance-1-0-lite-t2v-250428';
const liteImage = 'doubao-seedance-1-0-lite-i2v-250428';
const pro15 = 'doubao-seedance-1-5-pro-251215';
const fast2 = 'doubao-seedance-2-0-fast-260128';
const mini2 = 'doubao-seedance-2-0-mini-260615';
const global2 = 'dreamina-seedance-2-0-260128';
const global25 = 'dreamina-seedance-2-5-260628';

const video = (url = 'https://videos.example/a.mp4', role: string | undefined = 'reference_video') => ({
  type: 'video_url',
  video_url: { url },
  ...(role === undefined ? {} : { role }),
});
const audio = (role = 'reference_audio') => ({
  type: 'audio_url',
  audio_url: { url: 'https://a.example/a.mp3' },
  role,
});
const pngData = 'data:image/png;base64,iVBORw0KGgo=';

describe('create', () => {
  it('answers with an id of the published pattern, and nothing else', async () => {
    const answer = await ark.create();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['id']);
    expect(answer.body.id).toMatch(/^cgt-\d{14}-[a-z0-9]{5}$/);
  });

  it('writes the time of the id in China time', async () => {
    const answer = await ark.create();
    const [, y, mo, d, h, mi, s] = /^cgt-(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)-/.exec(answer.body.id) ?? [];
    const at = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}+08:00`);
    expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
  });

  it('echoes safety_identifier', async () => {
    const answer = await ark.create({ safety_identifier: 'user-7' });
    expect(answer.body).toEqual({ id: expect.any(String), safety_identifier: 'user-7' });
  });

  it('gives every task an id of its own', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => ark.created()));
    expect(new Set(answers).size).toBe(200);
  });

  it('ignores fields that it does not know', async () => {
    expect((await ark.create({ framespersecond: 60, nonsense: { a: 1 } })).status).toBe(200);
  });
});

describe('authentication', () => {
  it.each([
    ['missing', ''],
    ['wrong', 'Bearer other'],
    ['not a bearer token', `Basic ${testKey}`],
  ])('refuses a key that is %s', async (_name, authorization) => {
    const answer = await ark.create({}, { authorization });
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatchObject({ code: 'AuthenticationError', type: 'Unauthorized' });
  });

  it('accepts any key where none is configured', async () => {
    const open = await startSimulator({ host: '127.0.0.1', port: 0 });
    const response = await fetch(open.url + tasksPath, {
      method: 'POST',
      headers: { authorization: 'Bearer anything' },
      body: JSON.stringify({ model: seedance2, content: text('x') }),
    });
    await open.close();
    expect(response.status).toBe(200);
  });
});

describe('errors', () => {
  it('have the published shape, the request id at the end of the message', async () => {
    const answer = await ark.create({ ratio: '2:1' });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.error)).toEqual(['code', 'message', 'param', 'type']);
    expect(answer.body.error).toMatchObject({
      code: 'InvalidParameter.ratio',
      param: 'ratio',
      type: 'BadRequest',
    });
    expect(answer.body.error.message).toMatch(
      /^The parameter `ratio` specified in the request is not valid.* Request id: 02[0-9a-f]+$/,
    );
  });

  it('say that a body is not JSON', async () => {
    const response = await fetch(harness.url + tasksPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}` },
      body: '{',
    });
    expect(response.status).toBe(400);
  });

  it('say that an operation does not exist', async () => {
    expect((await harness.call('POST', `${tasksPath}/cgt-1/cancel`)).status).toBe(404);
    expect((await harness.call('GET', '/nowhere')).status).toBe(404);
  });
});

const refused: readonly (readonly [title: string, body: Record<string, unknown>, status: number, code: string])[] = [
  ['no model', { model: undefined }, 400, 'MissingParameter.model'],
  ['a model that is not a string', { model: 7 }, 400, 'InvalidParameter.model'],
  ['an unknown model', { model: 'sora-2' }, 404, 'InvalidEndpointOrModel.NotFound'],
  ['no content', { content: undefined }, 400, 'MissingParameter.content'],
  ['content that is not an array', { content: 'a cat' }, 400, 'InvalidParameter.content'],
  ['empty content', { content: [] }, 400, 'MissingParameter.content.text'],
  ['a text item without text', { content: [{ type: 'text' }] }, 400, 'MissingParameter.content.text'],
  ['an item of unknown type', { content: [{ type: 'image' }] }, 400, 'InvalidParameter.content.type'],
  ['an image item without a URL', { content: [...text('a'), { type: 'image_url' }] }, 400, 'MissingParameter.content.image_url'],
  ['an unknown role', { content: [...text('a'), image('start')] }, 400, 'InvalidParameter.content'],
  ['two images without a role', { content: [...text('a'), image(), image()] }, 400, 'InvalidParameter.content'],
  ['a video in an image role', { content: [...text('a'), video(undefined, 'first_frame')] }, 400, 'InvalidParameter.content'],
  ['an audio in a video role', { content: [...text('a'), image('reference_image'), audio('reference_video')] }, 400, 'InvalidParameter.content'],
  ['a video without a role', { content: [...text('a'), { type: 'video_url', video_url: { url: 'https://v.example/a.mp4' } }] }, 400, 'InvalidParameter.content'],
  ['frames mixed with references', { content: [...text('a'), image('first_frame'), image('reference_image')] }, 400, 'InvalidParameter.content'],
  ['a frame mixed with a video', { content: [...text('a'), image('first_frame'), video()] }, 400, 'InvalidParameter.content'],
  ['a last frame alone', { content: [...text('a'), image('last_frame')] }, 400, 'InvalidParameter.content'],
  ['two first frames', { content: [...text('a'), image('first_frame'), image('first_frame')] }, 400, 'InvalidParameter.content'],
  ['ten reference images', { content: [...text('a'), ...Array.from({ length: 10 }, () => image('reference_image'))] }, 400, 'InvalidParameter.content'],
  ['four reference videos', { content: [...text('a'), video(), video(), video(), video()] }, 400, 'InvalidParameter.content'],
  ['four audios', { content: [...text('a'), image('reference_image'), audio(), audio(), audio(), audio()] }, 400, 'InvalidParameter.content'],
  ['audio alone', { content: [...text('a'), audio()] }, 400, 'InvalidParameter.content'],
  ['a base64 video', { content: [...text('a'), video('data:video/mp4;base64,AAAA')] }, 400, 'InvalidParameter.video_url'],
  ['an image format in capitals', { content: [...text('a'), image('first_frame', pngData.replace('png', 'PNG'))] }, 400, 'InvalidParameter.image_url'],
  ['raw base64 without a prefix', { content: [...text('a'), image('first_frame', 'iVBORw0KGgo=')] }, 400, 'InvalidParameter.image_url'],
  ['heic with a 1.0 model', { model: pro1, content: [...text('a'), image('first_frame', 'data:image/heic;base64,AAAA')] }, 400, 'InvalidParameter.image_url'],
  ['references with 1.0 pro', { model: pro1, content: [...text('a'), image('reference_image')] }, 400, 'InvalidParameter.content'],
  ['references with 1.5', { model: pro15, content: [...text('a'), image('reference_image')] }, 400, 'InvalidParameter.content'],
  ['five references with lite', { model: liteImage, content: Array.from({ length: 5 }, () => image('reference_image')) }, 400, 'InvalidParameter.content'],
  ['a video with 1.5', { model: pro15, content: [...text('a'), video()] }, 400, 'InvalidParameter.content'],
  ['an image with lite text-to-video', { model: liteText, content: [...text('a'), image()] }, 400, 'InvalidParameter.content'],
  ['no image with lite image-to-video', { model: liteImage }, 400, 'MissingParameter.content.image_url'],
  ['an unknown resolution', { resolution: '2k' }, 400, 'InvalidParameter.resolution'],
  ['1080p with 2.0 fast', { model: fast2, resolution: '1080p' }, 400, 'InvalidParameter.resolution'],
  ['1080p with 2.0 mini', { model: mini2, resolution: '1080p' }, 400, 'InvalidParameter.resolution'],
  ['4k where only the other region lists it', { resolution: '4k' }, 400, 'InvalidParameter.resolution'],
  ['1080p with lite references', { model: liteImage, resolution: '1080p', content: [image('reference_image')] }, 400, 'InvalidParameter.resolution'],
  ['a duration below 4 with 2.0', { duration: 3 }, 400, 'InvalidParameter.duration'],
  ['a duration above 15 with 2.0', { duration: 16 }, 400, 'InvalidParameter.duration'],
  ['a duration above 12 with 1.5', { model: pro15, duration: 13 }, 400, 'InvalidParameter.duration'],
  ['a duration of one second with 1.0', { model: pro1, duration: 1 }, 400, 'InvalidParameter.duration'],
  ['an automatic duration with 1.0', { model: pro1, duration: -1 }, 400, 'InvalidParameter.duration'],
  ['a fractional duration', { duration: 5.5 }, 400, 'InvalidParameter.duration'],
  ['a duration as text', { duration: '5' }, 400, 'InvalidParameter.duration'],
  ['frames with 2.0', { frames: 121 }, 400, 'InvalidParameter.frames'],
  ['frames that are not 25+4n', { model: pro1, frames: 122 }, 400, 'InvalidParameter.frames'],
  ['too many frames', { model: pro1, frames: 293 }, 400, 'InvalidParameter.frames'],
  ['a seed out of range', { seed: 4_294_967_296 }, 400, 'InvalidParameter.seed'],
  ['an unknown service tier', { service_tier: 'batch' }, 400, 'InvalidParameter.service_tier'],
  ['flex with 2.0', { service_tier: 'flex' }, 400, 'InvalidParameter.service_tier'],
  ['an expiry below an hour', { execution_expires_after: 3599 }, 400, 'InvalidParameter.execution_expires_after'],
  ['an expiry above three days', { execution_expires_after: 259_201 }, 400, 'InvalidParameter.execution_expires_after'],
  ['a priority of ten', { priority: 10 }, 400, 'InvalidParameter.priority'],
  ['a priority with 1.5', { model: pro15, priority: 1 }, 400, 'InvalidParameter.priority'],
  ['audio with 1.0', { model: pro1, generate_audio: true }, 400, 'InvalidParameter.generate_audio'],
  ['a fixed camera with 2.0', { camera_fixed: true }, 400, 'InvalidParameter.camera_fixed'],
  ['a fixed camera with references', { model: liteImage, camera_fixed: true, content: [image('reference_image')] }, 400, 'InvalidParameter.camera_fixed'],
  ['tools with 1.5', { model: pro15, tools: [{ type: 'web_search' }] }, 400, 'InvalidParameter.tools'],
  ['an unknown tool', { tools: [{ type: 'shell' }] }, 400, 'InvalidParameter.tools'],
  ['a draft with 2.0', { draft: true }, 400, 'InvalidParameter.draft'],
  ['a draft in 720p', { model: pro15, draft: true, resolution: '720p' }, 400, 'InvalidParameter.resolution'],
  ['a draft with a last frame', { model: pro15, draft: true, return_last_frame: true }, 400, 'InvalidParameter.return_last_frame'],
  ['a draft in flex', { model: pro15, draft: true, service_tier: 'flex' }, 400, 'InvalidParameter.service_tier'],
  ['an unknown draft', { model: pro15, content: [{ type: 'draft_task', draft_task: { id: 'cgt-x' } }] }, 400, 'InvalidParameter.content'],
  ['a long safety identifier', { safety_identifier: 'x'.repeat(65) }, 400, 'InvalidParameter.safety_identifier'],
  ['a callback that is not a URL', { callback_url: 'here' }, 400, 'InvalidParameter.callback_url'],
  ['a flag as text', { watermark: 'true' }, 400, 'InvalidParameter.watermark'],
]; // prettier-ignore

const accepted: readonly (readonly [title: string, body: Record<string, unknown>])[] = [
  ['an endpoint id', { model: 'ep-20260101-abcde' }],
  ['an image without a role', { content: [...text('a'), image()] }],
  ['an image without a text', { content: [image()] }],
  ['a data URL', { content: [...text('a'), image('first_frame', pngData)] }],
  ['an asset', { content: [...text('a'), image('first_frame', 'asset://a-1')] }],
  ['first and last frame', { content: [...text('a'), image('first_frame'), image('last_frame')] }],
  ['all kinds of references', { content: [...text('a'), image('reference_image'), video(), audio()] }],
  ['nine reference images', { content: [...text('a'), ...Array.from({ length: 9 }, () => image('reference_image'))] }],
  ['twenty reference images with 2.5', { model: global25, content: [...text('a'), ...Array.from({ length: 20 }, () => image('reference_image'))] }],
  ['a video asset', { content: [...text('a'), video('asset://v-1')] }],
  ['heic with 2.0', { content: [...text('a'), image('first_frame', 'data:image/heic;base64,AAAA')] }],
  ['4k in the region that lists it', { model: global2, resolution: '4k' }],
  ['30 s with 2.5', { model: global25, duration: 30 }],
  ['15 s with 2.0', { duration: 15 }],
  ['2 s with 1.0', { model: pro1, duration: 2 }],
  ['frames with 1.0', { model: pro1, frames: 289 }],
  ['flex with 1.0', { model: pro1, service_tier: 'flex' }],
  ['flags set to their default', { camera_fixed: false, generate_audio: true, watermark: false, draft: false }],
  ['the highest seed', { seed: 4_294_967_295 }],
  ['search', { tools: [{ type: 'web_search' }] }],
]; // prettier-ignore

describe('validation', () => {
  it.each(refused)('refuses %s', async (_title, body, status, code) => {
    const answer = await ark.create(body);
    expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
  });

  it.each(accepted)('accepts %s', async (_title, body) => {
    const answer = await ark.create(body);
    expect(answer).toMatchObject({ status: 200 });
  });
});
