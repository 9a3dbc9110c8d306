import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readImage } from '../media/image-reader.ts';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness, startReceiver } from '../support.ts';
import type { Answer, Harness, Json, Receiver } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8, apiKeys: ['test-key', 'sk-cp-plan'] });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  harness.call('POST', `/minimax${path}`, body, headers);
const get = (path: string): Promise<Answer> => harness.call('GET', `/minimax${path}`);
const url = 'https://i.example/a.png';
const text = (words = 'a cat') => ({ type: 'text', text: words });
const image = (role?: string, at = url) => ({
  type: 'image_url',
  image_url: { url: at },
  ...(role === undefined ? {} : { role }),
});
const video = { type: 'video_url', video_url: { url: 'https://i.example/a.mp4' }, role: 'reference_video' };
const audio = { type: 'audio_url', audio_url: { url: 'mm_file://1' }, role: 'reference_audio' };

describe('v2', () => {
  const asked = { model: 'MiniMax-H3', content: [text()], resolution: '768P', duration: 5, ratio: '16:9' };
  const create = (over: object = {}, headers?: Record<string, string>): Promise<Answer> =>
    post('/v2/video_generation', { ...asked, ...over }, headers);
  const withFault = (fault: string) => create({ content: [text(`a cat [sim:${fault}]`)] });
  const idOf = async (answer: Promise<Answer>): Promise<string> => {
    const { status, body } = await answer;
    expect({ status, body }).toEqual({ status: 200, body: { task_id: expect.stringMatching(/^\d{15}$/) } });
    return body.task_id;
  };
  const poll = async (id: string): Promise<Json> => (await get(`/v2/query/video_generation/${id}`)).body.task;
  const remove = (id: string) => harness.call('DELETE', `/minimax/v2/video_generation/${id}`);
  const words = async (answer: Promise<Answer>) => {
    const { status, body } = await answer;
    return [status, body.error?.type, /\((\d+)\)$/.exec(body.error?.message)?.[1]];
  };

  it('moves through its words to a video, with seconds since 1970 and what it consumed', async () => {
    const id = await idOf(create({ resolution: '2K', duration: 6, ratio: '9:16' }));
    const queued = await poll(id);
    expect(queued).toEqual({
      id,
      model: 'MiniMax-H3',
      status: 'queued',
      created_at: expect.any(Number),
      updated_at: queued.created_at,
      task_type: 'generation',
      modality: 'video',
    });
    expect(queued.created_at).toBeLessThan(10_000_000_000);
    harness.control.advance(4);
    expect((await poll(id)).status).toBe('running');
    harness.control.advance(5);
    const task = await poll(id);
    expect(task).toMatchObject({
      status: 'succeeded',
      resolution: '2K',
      duration: 6,
      ratio: '9:16',
      usage: { total_seconds: 6, input_seconds: 0, output_seconds: 6, input_image_count: 0 },
    });
    const { prompt_tokens: read, completion_tokens: made, total_tokens: all } = task.usage;
    expect(all).toBe(read + made);
    const file = readMp4(Buffer.from(await (await fetch(task.content.url)).arrayBuffer()));
    expect(file.height / file.width).toBeCloseTo(16 / 9, 1);
  });

  it('bills seconds of reference videos, and counts images and sound', async () => {
    const content = [text('a cat [sim:input-seconds=3]'), image('reference_image'), video, audio];
    const id = await idOf(create({ content, ratio: undefined }));
    const other = await idOf(create({ content: [text('x [sim:usage-above=2]')] }));
    harness.control.advance(9);
    expect(await poll(id)).toMatchObject({
      ratio: '16:9',
      usage: { total_seconds: 8, input_seconds: 3, input_image_count: 1, input_audio_seconds: 6 },
    });
    expect((await poll(other)).usage.output_seconds).toBe(10);
  });

  it.each([
    ['an empty text', { content: [text('  ')] }],
    ['a format in capitals', { content: [text(), image('first_frame', 'data:image/PNG;base64,QUJD')] }],
    ['a video without its role', { content: [text(), { ...video, role: undefined }] }],
    ['an unknown model', { model: 'sora' }],
    ['no resolution', { resolution: undefined }],
    ['half a second', { duration: 5.5 }],
    ['a length in a string', { duration: '5' }],
    ['an unknown ratio', { ratio: '3:2' }],
    ['a seed', { seed: 1 }],
  ])('refuses %s', async (_, over) => {
    expect(await words(create(over))).toEqual([400, 'bad_request_error', '2013']);
  });

  it('refuses keys: a wrong one, and one of a plan', async () => {
    expect(await words(create({}, { authorization: 'Bearer wrong' }))).toEqual([
      401,
      'authorized_error',
      '1004',
    ]);
    const plan = { authorization: 'Bearer sk-cp-plan' };
    expect(await words(create({}, plan))).toEqual([402, 'insufficient_balance_error', '2056']);
    expect(await words(create({ content: [text('x [sim:docs-shape]')] }, plan))).toEqual([
      429,
      'rate_limit_error',
      '2056',
    ]);
  });

  it.each([
    ['failed', { code: '1000', message: 'unknown error' }],
    ['moderation-in-task', { code: '1027', message: 'output new_sensitive' }],
    ['moderation-in-task=input', { code: '1026', message: 'input new_sensitive' }],
  ])('ends with %s: a code in the task, and no file', async (fault, error) => {
    const id = await idOf(withFault(fault));
    harness.control.advance(9);
    const task = await poll(id);
    expect(task).toMatchObject({ status: 'failed', error, usage: {} });
    expect(task.content).toBeUndefined();
  });

  it('cancels what waits, deletes what ended, and refuses the rest', async () => {
    const [queued, running, ended] = [await idOf(create()), await idOf(create()), await idOf(create())];
    expect((await remove(queued)).body).toEqual({
      task_id: queued,
      action: 'cancelled',
      status: 'cancelled',
    });
    expect((await poll(queued)).status).toBe('cancelled');
    expect(await words(remove(queued))).toEqual([400, 'bad_request_error', '2013']);
    harness.control.advance(4);
    expect(await words(remove(running))).toEqual([400, 'bad_request_error', '2013']);
    harness.control.advance(5);
    expect((await remove(ended)).body).toEqual({ task_id: ended, action: 'deleted', status: 'succeeded' });
    expect(await words(get(`/v2/query/video_generation/${ended}`))).toEqual([
      400,
      'bad_request_error',
      '2013',
    ]);
    expect((await poll(running)).status).toBe('succeeded');
    const short = await idOf(withFault('docs-shape'));
    expect((await remove(short)).body.action).toBe('cancel');
    expect((await harness.call('DELETE', `/minimax/v2/query/video_generation/${running}`)).status).toBe(404);
  });

  it('lists in pages, by ids, status, model and type', async () => {
    const ids = [await idOf(create()), await idOf(create()), await idOf(create({ model: 'MiniMax-H3-Max' }))];
    const list = async (query: string): Promise<Json> =>
      (await get(`/v2/query/video_generation?${query}`)).body;
    const found = async (query: string) => (await list(query)).items.map(({ id }: Json) => id);
    expect(await found('')).toEqual(ids.toReversed());
    expect(await list('page_num=2&page_size=2')).toMatchObject({ items: [{ id: ids[0] }], total: 3 });
    expect(await found(`filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`)).toEqual([ids[2], ids[0]]);
    expect(await found('filter.model=MiniMax-H3-Max')).toEqual([ids[2]]);
    expect(await found('filter.status=running')).toEqual([]);
    expect(await found('filter.task_type=regeneration')).toEqual([]);
    expect(await words(get('/v2/query/video_generation?page_size=0'))).toEqual([
      400,
      'bad_request_error',
      '2013',
    ]);
  });
});

/** Answers a challenge as the vendor asks. */
function startEcho(): Promise<Receiver> {
  const receiver: Promise<Receiver> = startReceiver((response, index) => {
    void receiver.then(({ received }) => {
      response.writeHead(200).end(JSON.stringify(received[index]?.body));
    });
  });
  return receiver;
}

describe('callbacks', () => {
  const create = (prompt: string, callback_url: string) =>
    post('/v2/video_generation', {
      model: 'MiniMax-H3',
      content: [text(prompt)],
      resolution: '768P',
      duration: 5,
      ratio: '16:9',
      callback_url,
    });

  it.each([
    ['in the envelope of the query', '', (body: Json) => body.task],
    ['as the bare task', '[sim:docs-shape]', (body: Json) => body],
  ])('of v2 come after a challenge, %s', async (_, fault, taskOf) => {
    const receiver = await startEcho();
    try {
      expect((await create(`a cat ${fault}`, receiver.url)).status).toBe(200);
      await receiver.waitFor(2);
      harness.control.advance(4);
      await receiver.waitFor(3);
      harness.control.advance(5);
      await receiver.waitFor(4);
      const [challenge, ...news] = receiver.received.map(({ body }) => body);
      expect(challenge).toEqual({ challenge: expect.any(String) });
      expect(news.map((body) => taskOf(body).status)).toEqual(['queued', 'running', 'succeeded']);
    } finally {
      await receiver.close();
    }
  });

  it('do not come where the challenge was not returned', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(200).end('{"challenge":"other"}');
    });
    const sound = await startEcho();
    try {
      expect((await create('a cat', receiver.url)).status).toBe(200);
      harness.control.advance(9);
      // What comes to the other address shows that it would have come by now.
      expect((await create('a dog', sound.url)).status).toBe(200);
      await sound.waitFor(2);
      expect(receiver.received).toHaveLength(1);
    } finally {
      await Promise.all([receiver.close(), sound.close()]);
    }
  });
});

describe('v1', () => {
  const hailuo = 'MiniMax-Hailuo-2.3';
  const create = (over: object = {}): Promise<Answer> =>
    post('/v1/video_generation', { model: hailuo, prompt: 'a cat', ...over });
  const idOf = async (answer: Promise<Answer>): Promise<string> => {
    const { body } = await answer;
    expect(body).toEqual({
      task_id: expect.stringMatching(/^\d{15}$/),
      base_resp: { status_code: 0, status_msg: 'success' },
    });
    return body.task_id;
  };
  const poll = async (id: string): Promise<Json> =>
    (await get(`/v1/query/video_generation?task_id=${id}`)).body;
  const code = async (answer: Promise<Answer>) => {
    const { status, body } = await answer;
    return [status, body.base_resp?.status_code];
  };

  it('takes three calls to a video, whose file has text for its id, and then a number', async () => {
    const id = await idOf(create({ duration: 6, resolution: '768P' }));
    expect(await poll(id)).toEqual({
      task_id: id,
      status: 'Queueing',
      base_resp: { status_code: 0, status_msg: 'success' },
    });
    harness.control.advance(4);
    expect((await poll(id)).status).toBe('Processing');
    harness.control.advance(5);
    const { status, file_id: fileId, video_width: width, video_height: height } = await poll(id);
    expect([status, width, height]).toEqual(['Success', 1366, 768]);
    expect(fileId).toEqual(expect.any(String));
    const { file } = (await get(`/v1/files/retrieve?file_id=${fileId}`)).body;
    expect(file).toMatchObject({ file_id: Number(fileId), purpose: 'video_generation' });
    expect((await fetch(file.download_url)).status).toBe(200);
    harness.control.advance(3600);
    expect((await fetch(file.download_url)).status).toBe(403);
    const again = (await get(`/v1/files/retrieve?file_id=${fileId}`)).body.file.download_url;
    expect((await fetch(again)).status).toBe(200);
  });

  it('knows no file before its task succeeded', async () => {
    await idOf(create());
    expect(await code(get('/v1/files/retrieve?file_id=1'))).toEqual([200, 2013]);
    expect(await code(get('/v1/query/video_generation?task_id=1'))).toEqual([200, 2013]);
    expect(await code(get('/v1/query/video_generation'))).toEqual([200, 2013]);
  });
});

describe('image-01', () => {
  beforeEach(() => {
    harness.control.setRenderSeconds(0);
  });
  const create = (over: object = {}): Promise<Answer> =>
    post('/v1/image_generation', { model: 'image-01', prompt: 'a cat', ...over });

  it('comes as a link, with counts in strings', async () => {
    const { body } = await create({ aspect_ratio: '21:9', width: 512, height: 512 });
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      data: { image_urls: [expect.stringContaining('/media/')] },
      metadata: { success_count: '1', failed_count: '0' },
      base_resp: { status_code: 0, status_msg: 'success' },
    });
    const file = Buffer.from(await (await fetch(body.data.image_urls[0])).arrayBuffer());
    expect(readImage(file)).toEqual({ format: 'jpeg', width: 1568, height: 672 });
  });

  it('leaves out images that failed, and refuses when none is left', async () => {
    const some = (await create({ n: 3, prompt: 'a cat [sim:item-moderation=1]' })).body;
    expect(some.data.image_urls).toHaveLength(2);
    expect(some.metadata).toEqual({ success_count: '2', failed_count: '1' });
    const counted = (await create({ prompt: 'a cat [sim:docs-shape]' })).body;
    expect(counted.metadata).toEqual({ success_count: 1, failed_count: 0 });
    expect((await create({ prompt: 'a cat [sim:missing-usage]' })).body.metadata).toBeUndefined();
    expect((await create({ prompt: 'a cat [sim:missing-url]' })).body.data).toEqual({});
    for (const [fault, code] of [
      ['item-moderation', 1027],
      ['item-error', 1000],
      ['moderation-in-task', 1027],
      ['failed', 1000],
      ['moderation', 1026],
      ['429', 1002],
    ] as const) {
      const { status, body } = await create({ prompt: `a cat [sim:${fault}]` });
      expect([fault, status, body.base_resp.status_code]).toEqual([fault, 200, code]);
    }
  });
});
