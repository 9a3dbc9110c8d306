import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readImage } from '../media/image-reader.ts';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const base = '/dashscope/api/v1';
const asynchronous = { 'x-dashscope-async': 'enable' };
const video = 'video-generation/video-synthesis';
const textToImage = 'text2image/image-synthesis';
const imageGeneration = 'image-generation/generation';
const multimodal = 'multimodal-generation/generation';
const url = 'https://i.example/a.png';
const messages = [{ role: 'user', content: [{ image: url }, { text: 'make it red' }] }];

const post = (
  service: string,
  body: unknown,
  headers: Record<string, string> = asynchronous,
): Promise<Answer> => harness.call('POST', `${base}/services/aigc/${service}`, body, headers);

const textToVideo = (parameters: Record<string, unknown> = {}, prompt = 'the cat runs'): Promise<Answer> =>
  post(video, { model: 'wan2.6-t2v', input: { prompt }, parameters });

const poll = async (id: string): Promise<Json> => (await harness.call('GET', `${base}/tasks/${id}`)).body;

async function finished(answer: Promise<Answer>): Promise<Json> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: 200, body: { output: { task_status: 'PENDING' } } });
  harness.control.advance(9);
  return poll(body.output.task_id);
}

async function download(link: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(link)).arrayBuffer());
}

describe('submit', () => {
  it('demands the header for asynchronous calls', async () => {
    const answer = await post(video, { model: 'wan2.6-t2v', input: { prompt: 'x' } }, {});
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      request_id: expect.any(String),
      code: 'AccessDenied',
      message: 'current user api does not support synchronous calls.',
    });
  });

  it.each([
    ['an unknown model', video, { model: 'sora', input: { prompt: 'x' } }, 404, 'ModelNotFound'],
    ['no model', video, { input: { prompt: 'x' } }, 400, 'InvalidParameter'],
    ['no input', video, { model: 'wan2.6-t2v' }, 400, 'InvalidParameter'],
    [
      'a path that does not exist',
      'audio/synthesis',
      { model: 'wan2.6-t2v', input: { prompt: 'x' } },
      400,
      'InvalidParameter',
    ],
  ] as const)('refuses %s', async (_title, service, body, ...[status, code]) => {
    const answer = await post(service, body);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect(Object.keys(answer.body)).toEqual(['request_id', 'code', 'message']);
  });
});

describe('a video task', () => {
  it('is pending, running, then succeeded, with times of China', async () => {
    const id: string = (await textToVideo({ size: '1280*720', duration: 5 })).body.output.task_id;
    expect((await poll(id)).output).toEqual({
      task_id: id,
      task_status: 'PENDING',
      submit_time: expect.any(String),
    });
    harness.control.advance(2);
    expect((await poll(id)).output).toMatchObject({
      task_status: 'RUNNING',
      scheduled_time: expect.any(String),
    });
    harness.control.advance(7);
    const body = await poll(id);
    expect(body).toEqual({
      request_id: expect.any(String),
      output: {
        task_id: id,
        task_status: 'SUCCEEDED',
        submit_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/),
        scheduled_time: expect.any(String),
        end_time: expect.any(String),
        orig_prompt: 'the cat runs',
        actual_prompt: expect.stringContaining('the cat runs'),
        video_url: expect.stringContaining('/media/'),
      },
      usage: { duration: 5, video_count: 1, SR: 720 },
    });
    const submitted = Date.parse(`${body.output.submit_time.replace(' ', 'T')}+08:00`);
    expect(Math.abs(submitted - Date.now())).toBeLessThan(60_000);
    expect(readMp4(await download(body.output.video_url))).toMatchObject({
      width: 640,
      height: 360,
      movieSeconds: 5,
    });
  });

  it.each([
    ['wan2.6-t2v', { size: '1080*1920', duration: 12 }, { duration: 12, SR: 1080 }, '1080x1920'],
    ['wan2.5-t2v-preview', { size: '832*480', duration: 10 }, { duration: 10, SR: 480 }, '832x480'],
    ['wanx2.1-t2v-turbo', {}, { duration: 5, SR: 720 }, '1280x720'],
    [
      'wan2.7-t2v',
      { resolution: '1080P', ratio: '9:16' },
      { SR: 1080, size: '1080*1920', video_ratio: '9:16', output_video_duration: 5 },
      '1080x1920',
    ],
    ['wan2.7-t2v', { resolution: '480P', ratio: '1:1' }, { SR: 480, size: '480*480' }, '480x480'],
    ['happyhorse-1.0-t2v', {}, { SR: 720 }, '1280x720'],
  ])('of %s with %j', async (model, parameters, usage, size) => {
    const body = await finished(post(video, { model, input: { prompt: 'x' }, parameters }));
    expect(body.usage).toMatchObject(usage);
    expect(body.output.video_url).toContain(`/${size}-`);
  });

  it.each([
    ['an x in the size', 'wan2.6-t2v', { size: '1280x720' }],
    ['a resolution in lower case', 'wan2.7-t2v', { resolution: '720p' }],
    ['an unknown ratio', 'wan2.7-t2v', { ratio: '21:9' }],
    ['a duration as text', 'wan2.6-t2v', { duration: '5' }],
    ['a negative seed', 'wan2.6-t2v', { seed: -1 }],
    ['a flag as text', 'wan2.6-t2v', { watermark: 'false' }],
  ])('fails only at the poll for %s', async (_title, model, parameters) => {
    const body = await finished(post(video, { model, input: { prompt: 'x' }, parameters }));
    expect(body.output).toMatchObject({
      task_status: 'FAILED',
      code: 'InvalidParameter',
      message: expect.any(String),
    });
    expect(body).not.toHaveProperty('usage');
  });

  it('is unknown after a day, as is an invented id', async () => {
    const id: string = (await textToVideo()).body.output.task_id;
    harness.control.advance(86_390);
    expect((await poll(id)).output.task_status).toBe('SUCCEEDED');
    harness.control.advance(20);
    expect(await poll(id)).toEqual({
      request_id: expect.any(String),
      output: { task_id: id, task_status: 'UNKNOWN' },
    });
    expect((await harness.call('GET', `${base}/tasks/none`)).status).toBe(200);
    expect((await poll('none')).output).toEqual({ task_id: 'none', task_status: 'UNKNOWN' });
  });
});

describe('cancel', () => {
  const cancel = (id: string): Promise<Answer> => harness.call('POST', `${base}/tasks/${id}/cancel`);

  it('cancels what is pending', async () => {
    const id: string = (await textToVideo()).body.output.task_id;
    const answer = await cancel(id);
    expect([answer.status, answer.body]).toEqual([200, { request_id: expect.any(String) }]);
    expect((await poll(id)).output.task_status).toBe('CANCELED');
  });

  it('refuses anything else', async () => {
    const id: string = (await textToVideo()).body.output.task_id;
    harness.control.advance(2);
    for (const each of [id, 'none']) {
      const answer = await cancel(each);
      expect([answer.status, answer.body.code]).toEqual([400, 'UnsupportedOperation']);
    }
    harness.control.advance(7);
    expect((await poll(id)).output.task_status).toBe('SUCCEEDED');
  });
});

describe('list', () => {
  it('pages and filters', async () => {
    const first: string = (await textToVideo()).body.output.task_id;
    harness.control.advance(9);
    const second: string = (await post(video, { model: 'wan2.7-t2v', input: { prompt: 'x' } })).body.output
      .task_id;
    const list = async (query: string): Promise<Json> =>
      (await harness.call('GET', `${base}/tasks/?${query}`)).body;
    const ids = async (query: string): Promise<string[]> =>
      (await list(query)).data.map((item: Json) => item.task_id);
    expect(await ids('')).toEqual([second, first]);
    expect(await ids('status=SUCCEEDED')).toEqual([first]);
    expect(await ids('model_name=wan2.7-t2v')).toEqual([second]);
    expect(await ids('page_no=2&page_size=1')).toEqual([first]);
    expect(await ids('start_time=29990101000000')).toEqual([]);
    expect(await ids('end_time=20200101000000')).toEqual([]);
    expect(await list('page_size=1')).toMatchObject({ total: 2, total_page: 2, page_no: 1, page_size: 1 });
    expect((await harness.call('GET', `${base}/tasks/?page_no=0`)).status).toBe(400);
  });
});

describe('an image task', () => {
  it('delivers images with their metrics', async () => {
    const body = await finished(
      post(textToImage, {
        model: 'wan2.2-t2i-flash',
        input: { prompt: 'a poster' },
        parameters: { size: '1280*720', n: 2 },
      }),
    );
    expect(body).toMatchObject({
      output: {
        task_status: 'SUCCEEDED',
        results: [
          { orig_prompt: 'a poster', actual_prompt: expect.any(String), url: expect.any(String) },
          { url: expect.any(String) },
        ],
        task_metrics: { TOTAL: 2, SUCCEEDED: 2, FAILED: 0 },
      },
      usage: { image_count: 2 },
    });
    expect(readImage(await download(body.output.results[0].url))).toEqual({
      format: 'png',
      width: 1280,
      height: 720,
    });
  });

  it('answers in chat form where it was asked in messages', async () => {
    const { output, usage } = await finished(
      post(imageGeneration, {
        model: 'wan2.6-image',
        input: { messages },
        parameters: { n: 2, size: '1280*1280' },
      }),
    );
    expect(output.choices).toHaveLength(2);
    expect(output.choices[0]).toEqual({
      finish_reason: 'stop',
      message: { role: 'assistant', content: [{ image: expect.stringContaining('/1280x1280-') }] },
    });
    expect(usage).toEqual({ image_count: 2, width: 1280, height: 1280 });
  });

  it('reports the failure of one image among the results', async () => {
    const { output, usage } = await finished(
      post(textToImage, {
        model: 'wan2.2-t2i-plus',
        input: { prompt: '[sim:item-moderation=1]' },
        parameters: { n: 3 },
      }),
    );
    expect(output.task_status).toBe('SUCCEEDED');
    expect(output.results.map((item: object) => 'url' in item)).toEqual([true, false, true]);
    expect(output.results[1]).toEqual({ code: 'DataInspectionFailed', message: expect.any(String) });
    expect(output.task_metrics).toEqual({ TOTAL: 3, SUCCEEDED: 2, FAILED: 1 });
    expect(usage.image_count).toBe(2);
  });
});

describe('a synchronous image', () => {
  const ask = (body: object): Promise<Answer> => post(multimodal, body, {});

  it('comes in the answer', async () => {
    harness.control.setRenderSeconds(0);
    const { status, body } = await ask({
      model: 'qwen-image-edit',
      input: { messages },
      parameters: { watermark: false },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      output: {
        choices: [
          { finish_reason: 'stop', message: { role: 'assistant', content: [{ image: expect.any(String) }] } },
        ],
      },
      usage: { image_count: 1, width: 1024, height: 1024 },
      request_id: expect.any(String),
    });
    expect(readImage(await download(body.output.choices[0].message.content[0].image))).toMatchObject({
      width: 1024,
      height: 1024,
    });
    expect(harness.control.submissions('make it red')).toEqual({ submits: 1, creates: 1 });
  });
});
