import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnce, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { contractYaml, startSameInterface, type SameInterface } from './same-interface.ts';

/** Tests sections 1, 8 and 9 of the interface document: one base URL for many upstreams, with its limits and paths. */

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

const videos = '/v1/videos/generations';
const clip = { model: 'clip', prompt: 'a boat' };

it('videos of different upstreams have the same interface', async () => {
  const tasks = await Promise.all(
    ['clip', 'seedance'].map(async (model) => {
      const { body } = await createOnce(account.call, videos, { ...clip, model });
      return account.finished(body.id);
    }),
  );
  // These fields are present only if the upstream reports the video's shape or it follows from the model's facts.
  const ofShape = ['resolution', 'ratio', 'size'];
  const [fields = [], others = []] = tasks.map((task) =>
    Object.keys(task)
      .filter((name) => !ofShape.includes(name))
      .toSorted(),
  );
  expect(fields).toEqual(others);
  for (const task of tasks) {
    expect(task).toMatchObject({ status: 'succeeded', data: [{ url: task['video_url'] }], duration: 5 });
  }
});

it('images of different upstreams have the same interface', async () => {
  for (const model of ['picture', 'gpt-image', 'dall-e', 'seedream']) {
    const { status, body } = await createOnce(account.call, '/v1/images/generations', { model, prompt: 'x' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ created: expect.any(Number), data: [expect.any(Object)] });
  }
});

describe('limits', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['too many images', { images: Array.from({ length: 10 }, () => 'https://a.example/1.png') }, 'images'],
    ['too many videos', { videos: Array.from({ length: 4 }, () => 'https://a.example/1.mp4') }, 'videos'],
    ['too many audios', { audios: Array.from({ length: 4 }, () => 'https://a.example/1.mp3') }, 'audios'],
    ['a prompt of more than 32,000 characters', { prompt: 'x'.repeat(32_001) }, 'prompt'],
    ['a duration above the bound of the model', { duration: 13 }, 'duration'],
    ['a duration below the bound of the model', { duration: 1 }, 'duration'],
  ])('%s is a 400 that names the field', async (_name, change, param) => {
    const answer = await account.call('POST', videos, { body: { ...clip, ...change } });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  it('execution_expires_after ends a task that is not finished in time, at no charge', async () => {
    const payer = await gateway.account();
    const created = await createOnce(payer.call, videos, {
      model: 'seedance',
      prompt: 'slow [sim:never-starts]',
      metadata: { execution_expires_after: 2 },
    });
    expect(await payer.finished(created.body.id)).toMatchObject({
      status: 'failed',
      error: { code: 'task_expired' },
    });
    expect(await payer.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
  });

  it('requests beyond the rate of a key are a 429 that says when to come back', async () => {
    const hasty = await gateway.account({ key: { requests_per_minute: 1 } });
    const answers = await Promise.all([1, 2, 3].map(() => hasty.call('GET', '/v1/balance')));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error.code).toBe('rate_limit_exceeded');
    expect(refused?.headers['retry-after']).toMatch(/^\d+$/);
  });
});

describe('versioning', () => {
  it('every path for callers carries the prefix /v1, and none works without it', async () => {
    const { body } = await gateway.call('GET', '/openapi.json');
    const paths = Object.entries<Record<string, { security?: unknown[] }>>(body.paths);
    const keyed = paths.filter(([, item]) =>
      Object.values(item).some(({ security = [] }) => security.length > 0),
    );
    for (const [path] of keyed) expect(path).toMatch(/^\/(?:(?:admin\/)?v1|api\/v[13]|fal)\//);
    for (const path of ['/videos/generations', '/video/generations', '/images/generations', '/images/edits'])
      expect((await account.call('POST', path, { body: clip })).status).toBe(404);
  });

  it('a task created under one path is found under the other', async () => {
    for (const [one, other] of [
      ['video', 'videos'],
      ['videos', 'video'],
    ] as const) {
      const { body } = await createOnce(account.call, `/v1/${one}/generations`, clip);
      const found = await account.call('GET', `/v1/${other}/generations/${body.id}`);
      expect([found.status, found.body.id]).toEqual([200, body.id]);
    }
  });

  it('compatibility fields live beside the preferred ones', async () => {
    const old = { image: 'https://a.example/1.png', seconds: '6', size: '1280x720' };
    const { status, body } = await createOnce(account.call, videos, {
      ...clip,
      ...old,
      prompt: 'old fields',
    });
    expect(status).toBe(200);
    expect(body.task_id).toBe(body.id);
    expect(await upstream.videoCreate('old fields')).toMatchObject({
      images: [old.image],
      duration: 6,
      resolution: '720p',
      ratio: '16:9',
    });
    const found = await account.call('GET', `${videos}/${body.id}`);
    expect(found.body.task_id).toBe(found.body.id);
    const list = await account.call('GET', `${videos}?limit=1`);
    expect(list.body.data[0].task_id).toBe(list.body.data[0].id);
  });
});
