import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readMp4 } from '../media/mp4-reader.ts';
import { image, seedance2, startHarness, testKey } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
});
afterAll(() => harness.close());

const tasks = '/new-api/v1/video/generations';
const videos = '/new-api/v1/videos';

const submit = (body: Record<string, unknown> = {}, path = tasks): Promise<Answer> =>
  harness.call('POST', path, { model: seedance2, prompt: 'a cat', ...body });

async function submitted(body: Record<string, unknown> = {}): Promise<string> {
  const answer = await submit(body);
  expect(answer.status).toBe(200);
  return String(answer.body.id);
}

/** The inner object of the task dialect. */
const task = async (id: string): Promise<Json> => (await harness.call('GET', `${tasks}/${id}`)).body.data;
const video = async (id: string): Promise<Json> => (await harness.call('GET', `${videos}/${id}`)).body;

describe('submit', () => {
  it.each([tasks, videos])('answers at %s with both names of the id', async (path) => {
    const { status, body, headers } = await submit({}, path);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: body.task_id,
      task_id: expect.stringMatching(/^task_[A-Za-z0-9]{32}$/),
      object: 'video',
      model: seedance2,
      status: 'queued',
      progress: 0,
      created_at: expect.any(Number),
    });
    expect(JSON.parse(headers.get('x-new-api-other-ratios') ?? '')).toEqual({ seconds: 5 });
  });

  it('takes multipart, with metadata as JSON text', async () => {
    const form = new FormData();
    for (const [key, value] of Object.entries({
      model: seedance2,
      prompt: 'a cat',
      seconds: '8',
      metadata: '{"ratio":"1:1"}',
    })) {
      form.set(key, value);
    }
    const response = await fetch(harness.url + videos, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}` },
      body: form,
    });
    const { id } = (await response.json()) as { id: string };
    harness.control.advance(9);
    expect(await video(id)).toMatchObject({
      seconds: '8',
      metadata: { url: expect.stringContaining('/960x960-') },
    });
  });

  it.each([
    ['a missing model', { model: undefined }, 400, 'invalid_request'],
    ['a missing prompt', { prompt: undefined }, 400, 'invalid_request'],
    ['a size with an asterisk', { size: '1280*720' }, 400, 'invalid_request'],
    ['a duration as a word', { duration: 'long' }, 400, 'invalid_request'],
    ['metadata that is not an object', { metadata: 'x' }, 400, 'invalid_request'],
  ])('refuses %s', async (_title, body, status, code) => {
    const answer = await submit(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ code, message: expect.any(String), data: null });
  });

  it('passes on what the upstream refuses', async () => {
    const answer = await submit({ metadata: { resolution: '9k' } });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('fail_to_fetch_task');
    expect(JSON.parse(answer.body.message).error.code).toBe('InvalidParameter.resolution');
  });
});

describe('what is rendered', () => {
  it.each([
    [{ metadata: { resolution: '480p', ratio: '9:16', duration: 7 } }, '496x864', '7'],
    [{ duration: 6 }, '1280x720', '6'],
    [{ duration: '6' }, '1280x720', '6'],
    [{ seconds: '8' }, '1280x720', '8'],
    [{ duration: 6, metadata: { duration: 9 } }, '1280x720', '9'],
    [{ model: 'sora-2', size: '720x1280', seconds: '4' }, '720x1280', '4'],
    [{ model: 'kling-v2-6' }, '1280x720', '5'],
    [{ images: ['https://i.example/a.png'] }, '1280x720', '5'],
    [{ images: ['https://i.example/a.png', 'https://i.example/b.png'] }, '1280x720', '5'],
    [{ metadata: { model: 'other', content: [image('first_frame'), image('last_frame')] } }, '1280x720', '5'],
  ])('%j', async (body, size, seconds) => {
    const id = await submitted(body);
    harness.control.advance(9);
    expect(await video(id)).toMatchObject({
      status: 'completed',
      seconds,
      metadata: { url: expect.stringContaining(`/${size}-`) },
    });
  });
});

describe('the task dialect', () => {
  it('goes through its words in capitals, with progress as text', async () => {
    const id = await submitted();
    const seen: unknown[] = [];
    for (const step of [0, 0.4, 0.4, 3.7, 4]) {
      harness.control.advance(step);
      const { status, progress } = await task(id);
      seen.push([status, progress]);
    }
    expect(seen).toEqual([
      ['NOT_START', '0%'],
      ['SUBMITTED', '0%'],
      ['QUEUED', '0%'],
      ['IN_PROGRESS', '50%'],
      ['SUCCESS', '100%'],
    ]);
  });

  it('nests the upstream object', async () => {
    const id = await submitted();
    harness.control.advance(9);
    const { status, body } = await harness.call('GET', `${tasks}/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ code: 'success', message: '' });
    expect(body.data).toMatchObject({
      task_id: id,
      platform: '54',
      fail_reason: '',
      result_url: expect.stringContaining('.mp4'),
      properties: { input: 'a cat' },
      data: {
        id: expect.stringMatching(/^cgt-/),
        status: 'succeeded',
        content: { video_url: body.data.result_url },
        usage: { completion_tokens: 108_900, total_tokens: 108_900 },
      },
    });
    expect(body.data.finish_time).toBeGreaterThan(body.data.submit_time);
  });

  it('reports a failure', async () => {
    const id = await submitted({ prompt: '[sim:moderation-in-task]' });
    harness.control.advance(9);
    expect(await task(id)).toMatchObject({
      status: 'FAILURE',
      fail_reason: expect.stringContaining('sensitive'),
      result_url: '',
      data: { status: 'failed', error: { code: 'OutputVideoSensitiveContentDetected' } },
    });
  });

  it('has older and other shapes', async () => {
    const legacy = await submitted({ prompt: '[sim:legacy-url]' });
    const docs = await submitted({ prompt: '[sim:docs-shape]' });
    const ark = await submit({ prompt: '[sim:ark-shape]' });
    expect(ark.body).toEqual({ id: expect.any(String) });
    const poll = async (id: string): Promise<Json> => (await harness.call('GET', `${tasks}/${id}`)).body;
    harness.control.advance(2);
    expect(await poll(docs)).toEqual({ task_id: docs, status: 'processing', error: null });
    harness.control.advance(7);
    expect(await task(legacy)).toMatchObject({ fail_reason: expect.stringContaining('.mp4') });
    expect(await task(legacy)).not.toHaveProperty('result_url');
    expect(await poll(docs)).toMatchObject({
      status: 'succeeded',
      url: expect.any(String),
      format: 'mp4',
      metadata: { duration: 5, fps: 24, width: 1280 },
    });
    expect(await poll(ark.body.id)).toMatchObject({
      status: 'succeeded',
      content: { video_url: expect.any(String) },
    });
  });
});

describe('the OpenAI dialect', () => {
  it('goes from queued to completed, with progress as a number and the link in metadata', async () => {
    const id = await submitted();
    expect(await video(id)).toEqual({
      id, object: 'video', model: seedance2, status: 'queued', progress: 0, created_at: expect.any(Number), seconds: '5',
    }); // prettier-ignore
    harness.control.advance(4.5);
    expect(await video(id)).toMatchObject({ status: 'in_progress', progress: 50 });
    harness.control.advance(4);
    expect(await video(id)).toMatchObject({
      status: 'completed',
      progress: 100,
      completed_at: expect.any(Number),
      metadata: { url: expect.any(String) },
    });
  });

  it('serves the content with a key, once it is there', async () => {
    const id = await submitted({ duration: 4 });
    const get = (key: string): Promise<Response> =>
      fetch(`${harness.url}${videos}/${id}/content`, {
        headers: { authorization: `Bearer ${key}` },
        redirect: 'manual',
      });
    expect((await get(testKey)).status).toBe(400);
    harness.control.advance(9);
    expect((await get('no')).status).toBe(401);
    const response = await get(testKey);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(readMp4(Buffer.from(await response.arrayBuffer()))).toMatchObject({
      width: 640,
      height: 360,
      movieSeconds: 5,
    });
  });
});

describe('images', () => {
  it('are those of OpenAI, errors too', async () => {
    harness.control.setRenderSeconds(0);
    const ask = (body: object): Promise<Answer> =>
      harness.call('POST', '/new-api/v1/images/generations', body);
    expect((await ask({ model: 'gpt-image-1', prompt: 'x' })).body.data[0].b64_json).toEqual(
      expect.any(String),
    );
    expect((await ask({ model: 'gpt-image-1', prompt: 'x', size: '1x1' })).body.error.param).toBe('size');
    expect((await ask({ model: 'gpt-image-1', prompt: '[sim:429]' })).body.error.type).toBe('new_api_error');
    harness.control.setRenderSeconds(8);
  });
});
