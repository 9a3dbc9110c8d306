import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { klingCallbackSecret } from '../../../../src/local/simulator/dialects/kling-key.ts';
import { kling } from '../../../../src/providers/kling/index.ts';
import { callback, providerContext } from '../../../providers/support.ts';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness, startReceiver } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8, apiKeys: ['test-key', 'access:secret'] });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  harness.call('POST', `/kling${path}`, body, headers);
const get = (path: string, headers?: Record<string, string>): Promise<Answer> =>
  harness.call('GET', `/kling${path}`, undefined, headers);
const text = (settings: object = {}, options: object = {}, model = 'kling-3.0'): Promise<Answer> =>
  post(`/text-to-video/${model}`, { prompt: 'a cat', settings, options });
const url = 'https://i.example/a.png';
const prompt = { type: 'prompt', text: 'a cat' };
const first = { type: 'first_frame', url };

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: 200, body: { code: 0, message: 'SUCCEED' } });
  return String(body.data.id ?? body.data.task_id);
}
const poll = async (id: string): Promise<Json> => (await get(`/tasks?task_ids=${id}`)).body.data;

describe('the new standard', () => {
  it('answers a create with a submitted task, in milliseconds', async () => {
    const { status, body } = await text({}, { external_task_id: 'gw-1' });
    expect(status).toBe(200);
    expect(body).toEqual({
      code: 0,
      message: 'SUCCEED',
      request_id: expect.any(String),
      data: {
        id: expect.stringMatching(/^\d{18,}$/),
        status: 'submitted',
        create_time: expect.any(Number),
        update_time: expect.any(Number),
        external_id: 'gw-1',
      },
    });
    expect(body.data.create_time).toBeGreaterThan(1_700_000_000_000);
  });

  it('moves through its words to a video that plays, with strings for lengths and amounts', async () => {
    const id = await idOf(text({ resolution: '1080p', duration: 5, aspect_ratio: '9:16' }));
    expect(await poll(id)).toMatchObject([{ status: 'submitted' }]);
    harness.control.advance(4);
    expect(await poll(id)).toMatchObject([{ status: 'processing', message: '' }]);
    harness.control.advance(5);
    const [task] = await poll(id);
    expect(task).toMatchObject({
      id,
      status: 'succeeded',
      outputs: [{ type: 'video', watermark_url: '', duration: '5.1' }],
      billing: [{ charge_type: 'unit', package_type: 'video', amount: '4.00' }],
    });
    const file = Buffer.from(await (await fetch(task.outputs[0].url)).arrayBuffer());
    const { width, height } = readMp4(file);
    expect(height / width).toBeCloseTo(16 / 9, 1);
  });

  it.each([
    ['no prompt', '/text-to-video/kling-3.0', {}],
    ['contents for text', '/text-to-video/kling-3.0', { contents: [prompt] }],
    ['an unknown field', '/text-to-video/kling-3.0', { prompt: 'x', seed: 1 }],
    ['an unknown setting', '/text-to-video/kling-3.0', { prompt: 'x', settings: { fps: 24 } }],
    ['a length in a string', '/text-to-video/kling-3.0', { prompt: 'x', settings: { duration: '5' } }],
    ['480p', '/text-to-video/kling-3.0', { prompt: 'x', settings: { resolution: '480p' } }],
    [
      'a data URL',
      '/image-to-video/kling-3.0',
      { contents: [{ ...first, url: 'data:image/png;base64,QUJD' }] },
    ],
  ])('refuses %s', async (_, path, body) => {
    const { status, body: error } = await post(path, body);
    expect({ status, error }).toEqual({
      status: 400,
      error: { code: 1201, message: expect.any(String), request_id: expect.any(String) },
    });
  });

  it.each([
    ['an unknown model', '/text-to-video/sora-2', 1203],
    ['an unknown path', '/motion-magic/kling-3.0', 1202],
  ])('does not know %s', async (_, path, code) => {
    const body = path.startsWith('/text') ? { prompt: 'x' } : { contents: [prompt] };
    const answer = await post(path, body);
    expect([answer.status, answer.body.code]).toEqual([404, code]);
  });

  it('reports many tasks at once, and leaves out what it does not know', async () => {
    const one = await idOf(text({}, { external_task_id: 'gw-1' }));
    const two = await idOf(text());
    expect((await poll(`${two},x,${one}`)).map((task: Json) => task.id)).toEqual([two, one]);
    expect(await poll('x')).toEqual([]);
    const named = await get('/tasks?external_task_ids=gw-1,gw-2');
    expect(named.body.data.map((task: Json) => task.id)).toEqual([one]);
  });

  it('lists in pages, by status', async () => {
    for (let index = 0; index < 3; index += 1) await idOf(text());
    const page = (await post('/tasks', { limit: 2 })).body.data;
    expect(page).toMatchObject({ count: 2, has_more: true });
    const rest = (await post('/tasks', { limit: 2, cursor: page.next_cursor, start_time: 9e15 })).body.data;
    expect(rest).toMatchObject({ count: 1, has_more: false });
    const filters = [{ key: 'status', values: ['succeeded'] }];
    expect((await post('/tasks', { filters })).body.data.count).toBe(0);
    expect((await post('/tasks', { limit: 501 })).body.code).toBe(1201);
  });

  it('refuses a name that is taken, or as docs-shape has it makes another task', async () => {
    await idOf(text({}, { external_task_id: 'gw-1' }));
    expect((await text({}, { external_task_id: 'gw-1' })).body.code).toBe(1201);
    const body = { prompt: 'x [sim:docs-shape]', options: { external_task_id: 'gw-1' } };
    expect((await post('/text-to-video/kling-3.0', body)).status).toBe(200);
  });

  it('refuses a submit while every slot of the model is taken', async () => {
    for (let index = 0; index < 100; index += 1) await idOf(text());
    const { status, body } = await text();
    expect([status, body.code]).toEqual([429, 1303]);
    expect((await text({}, {}, 'kling-2.6')).status).toBe(200);
    harness.control.advance(9);
    expect((await text()).status).toBe(200);
  });
});

describe('the legacy standard', () => {
  const video = (service: string, body: object) =>
    post(`/v1/videos/${service}`, { prompt: 'a cat', ...body });

  it('ends with one letter less, at the path of its submission', async () => {
    const id = await idOf(
      video('text2video', {
        model_name: 'kling-v2-6',
        mode: 'pro',
        duration: '10',
        external_task_id: 'gw-1',
      }),
    );
    harness.control.advance(9);
    const { body } = await get(`/v1/videos/text2video/${id}`);
    expect(body.data).toMatchObject({
      task_id: id,
      task_status: 'succeed',
      task_status_msg: '',
      task_info: { external_task_id: 'gw-1' },
      final_unit_deduction: '5',
      final_balance_deduction: { quota: '0', list_price: '0' },
      task_result: { videos: [{ watermark_url: '', duration: '10.1' }] },
    });
    const elsewhere = await get(`/v1/videos/image2video/${id}`);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 1203]);
    expect((await get('/v1/videos/text2video/gw-1')).status).toBe(404);
    expect(await poll(id)).toEqual([]);
    const listed = await get('/v1/videos/text2video?pageNum=1&pageSize=30');
    expect(listed.body.data.map((task: Json) => task.task_id)).toEqual([id]);
    expect((await get('/v1/videos/text2video?pageSize=501')).body.code).toBe(1201);
  });

  it('renders images, which are known by the name of the caller, too', async () => {
    const body = { prompt: 'a cat', n: 2, resolution: '2k', aspect_ratio: '1:1', external_task_id: 'gw-2' };
    await idOf(post('/v1/images/generations', body));
    harness.control.advance(9);
    const { data } = (await get('/v1/images/generations/gw-2')).body;
    expect(data).toMatchObject({ task_status: 'succeed', final_unit_deduction: '16' });
    expect(data.task_result.images.map(({ index }: Json) => index)).toEqual([0, 1]);
    expect((await fetch(data.task_result.images[1].url)).status).toBe(200);
  });

  it.each([
    ['a length that is a number', 'text2video', { duration: 5 }, 400],
    ['an image', 'image2video', { image: 'QUJD', image_tail: url }, 200],
    ['images', 'multi-image2video', { model_name: 'kling-v1-6', image_list: [{ image: url }] }, 200],
    ['images in the other spelling', 'multi-image2video', { image_list: [{ image_url: url }] }, 200],
    ['an unknown model', 'text2video', { model_name: 'sora-2' }, 404],
    [
      'omni with a video',
      'omni-video',
      { model_name: 'kling-v3-omni', video_list: [{ video_url: url }] },
      200,
    ],
  ])('answers %s', async (_, service, body, status) => {
    expect((await video(service, body)).status).toBe(status);
  });
});

describe('keys', () => {
  const token = (times: { nbf: number; exp: number }, secret = 'secret') => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'access', ...times })}`;
    return `Bearer ${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  };
  const seconds = Math.floor(Date.now() / 1000);
  const valid = { nbf: seconds - 60, exp: seconds + 1800 };

  it.each([
    ['none', '', '/v1/videos/text2video', 401, 1001],
    ['a wrong one', 'Bearer wrong', '/v1/videos/text2video', 401, 1002],
    ['a pair that is sent', 'Bearer access:secret', '/v1/videos/text2video', 401, 1002],
    ['a signature', token(valid), '/v1/videos/text2video', 200, 0],
    ['a signature of another', token(valid, 'other'), '/v1/videos/text2video', 401, 1002],
    ['one whose time has passed', token({ ...valid, exp: seconds - 60 }), '/v1/videos/text2video', 401, 1004],
    [
      'one whose time has not come',
      token({ ...valid, nbf: seconds + 600 }),
      '/v1/videos/text2video',
      401,
      1003,
    ],
    ['no token', 'Bearer a.b.c', '/v1/videos/text2video', 401, 1002],
    ['a signature in the new standard', token(valid), '/tasks?task_ids=1', 401, 1002],
  ])('%s', async (_, authorization, path, ...[status, code]) => {
    const answer = await get(path, { authorization });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});

it('calls back with the bare task at each change, and the adapter takes its signature for genuine', async () => {
  const receiver = await startReceiver();
  try {
    await idOf(text({}, { callback_url: receiver.url }));
    await receiver.waitFor(1);
    harness.control.advance(4);
    await receiver.waitFor(2);
    harness.control.advance(5);
    await receiver.waitFor(3);
    expect(receiver.received.map(({ body }) => body.status)).toEqual([
      'submitted',
      'processing',
      'succeeded',
    ]);
    const [, , last] = receiver.received;
    if (last === undefined) throw new Error('no callback came');
    expect(last.body).toMatchObject({ outputs: [{ duration: '5.1' }], billing: [{ amount: '3.00' }] });
    const headers = Object.fromEntries(
      Object.entries(last.headers).map(([name, value]) => [name, String(value)]),
    );
    const genuine = (apiSecret: string) =>
      kling.video?.verifyCallback?.(callback(last.body, headers), {
        ...providerContext({ credential: { id: 'a', apiKey: 'k', callbackSecret: apiSecret } }),
        now: Date.now(),
      });
    expect(await genuine(klingCallbackSecret)).toBe(true);
    expect(await genuine('whsec_b3RoZXI=')).toBe(false);
    expect(kling.video?.parseCallback?.(callback(last.body))).toEqual({ ended: true });
  } finally {
    await receiver.close();
  }
});
