import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const version = { 'x-runway-version': '2024-11-06' };
const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = version) =>
  harness.call(method, `/runway/v1${path}`, body, headers);
const post = (path: string, body: object): Promise<Answer> => call('POST', `/${path}`, body);
const gen45 = { model: 'gen4.5', promptText: 'a cat', ratio: '1280:720', duration: 5 };
const text = (body: object = {}): Promise<Answer> => post('text_to_video', { ...gen45, ...body });

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { id: expect.stringMatching(/^[\da-f-]{36}$/) },
  });
  return String(body.id);
}
const poll = async (id: string): Promise<Json> => (await call('GET', `/tasks/${id}`)).body;

describe('a task', () => {
  it('moves through its words to a video that plays, with a fresh link at each question', async () => {
    const created = await text({ ratio: '720:1280' });
    expect(created.body).toEqual({ id: expect.any(String), estimatedCost: { credits: 100 } });
    const { id } = created.body;
    const base = { id, createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) };
    expect(await poll(id)).toEqual({ ...base, status: 'PENDING', estimatedCost: { credits: 100 } });
    harness.control.advance(4.5);
    expect(await poll(id)).toEqual({
      ...base,
      status: 'RUNNING',
      progress: 0.5,
      estimatedCost: { credits: 100 },
    });
    harness.control.advance(4);
    const task = await poll(id);
    expect(task).toEqual({
      ...base,
      status: 'SUCCEEDED',
      output: [expect.any(String)],
      cost: { credits: 100 },
    });
    const file = Buffer.from(await (await fetch(task.output[0])).arrayBuffer());
    const { width, height } = readMp4(file);
    expect(height / width).toBeCloseTo(16 / 9, 1);
    harness.control.advance(86_400);
    expect((await fetch(task.output[0])).status).toBe(403);
    const [fresh] = (await poll(id)).output;
    expect(fresh).not.toBe(task.output[0]);
    expect((await fetch(fresh)).status).toBe(200);
  });

  it('waits as THROTTLED while as many others of its model run as may', async () => {
    for (let index = 0; index < 20; index += 1) await idOf(text({ promptText: 'x [sim:queue=0]' }));
    const id = await idOf(text());
    const other = await idOf(text({ model: 'veo3.1' }).then(() => text({ model: 'veo3.1', duration: 4 })));
    expect((await poll(id)).status).toBe('THROTTLED');
    expect((await poll(other)).status).toBe('PENDING');
    harness.control.advance(8);
    expect((await poll(id)).status).toBe('SUCCEEDED');
  });

  it.each([
    ['PENDING', 0],
    ['RUNNING', 4],
    ['SUCCEEDED', 9],
  ])('is gone after its DELETE at %s', async (word, seconds) => {
    const id = await idOf(text());
    harness.control.advance(seconds);
    expect((await poll(id)).status).toBe(word);
    const deleted = await call('DELETE', `/tasks/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await call('GET', `/tasks/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/tasks/${id}`)).status).toBe(404);
  });

  it('may be shown as CANCELLED instead', async () => {
    const id = await idOf(text({ promptText: 'x [sim:docs-shape]' }));
    expect((await call('DELETE', `/tasks/${id}`)).status).toBe(204);
    expect((await poll(id)).status).toBe('CANCELLED');
  });

  it.each([
    ['failed', 'INTERNAL.BAD_OUTPUT.CODE01', 0],
    ['failed=ASSET.INVALID', 'ASSET.INVALID', 0],
    ['moderation-in-task', 'SAFETY.OUTPUT.VIDEO', 0],
    ['moderation', 'SAFETY.INPUT.TEXT', 100],
  ])('ends with %s as %s', async (fault, failureCode, credits) => {
    const id = await idOf(text({ promptText: `x [sim:${fault}]` }));
    harness.control.advance(9);
    expect(await poll(id)).toEqual({
      id,
      createdAt: expect.any(String),
      status: 'FAILED',
      failure: expect.stringMatching(/\w/),
      failureCode,
      cost: { credits },
    });
  });
});

it('renders several images in one job', async () => {
  const image = { model: 'gpt_image_2', promptText: 'a cat', ratio: '1280:720', outputCount: 4 };
  const id = await idOf(post('text_to_image', image));
  harness.control.advance(9);
  const task = await poll(id);
  expect(task).toMatchObject({ cost: { credits: 20 } });
  expect(task.output).toHaveLength(4);
  expect((await fetch(task.output[3])).headers.get('content-type')).toBe('image/png');
});

it.each([
  ['an unknown model', { model: 'sora' }, 'model'],
  ['an empty text', { promptText: '' }, 'promptText'],
  ['an unknown field', { fps: 24 }, ''],
  ['a ratio with words', { ratio: '16:9 wide' }, 'ratio'],
  ['a length in a string', { duration: '5' }, 'duration'],
  ['a seed too large', { seed: 4_294_967_296 }, 'seed'],
  ['http', { promptImage: 'http://i.example/a.png' }, 'promptImage'],
])('is refused for %s', async (_, over, field) => {
  const answer = await text(over);
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      error: expect.any(String),
      docUrl: expect.any(String),
      issues: [{ path: field.split('.'), message: expect.any(String) }],
    },
  ]);
});

describe('an error', () => {
  it('comes without the header of the version, whatever the call', async () => {
    const id = await idOf(text());
    for (const [method, path, body] of [
      ['POST', '/text_to_video', gen45],
      ['GET', `/tasks/${id}`, undefined],
      ['DELETE', `/tasks/${id}`, undefined],
    ] as const) {
      for (const headers of [{}, { 'x-runway-version': '2024-01-01' }]) {
        const answer = await call(method, path, body, headers);
        expect([answer.status, answer.body.error]).toEqual([
          400,
          expect.stringContaining('X-Runway-Version'),
        ]);
      }
    }
    expect(harness.control.tasks('a cat')).toHaveLength(1);
  });

  it.each([
    ['GET', '/tasks/none', 404],
    ['GET', '/tasks', 404],
    ['GET', '/text_to_video', 405],
  ])('answers %s %s with %i', async (method, path, status) => {
    const answer = await call(method, path);
    expect([answer.status, typeof answer.body.error]).toEqual([status, 'string']);
  });
});
