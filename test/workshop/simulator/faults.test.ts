import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseFault, UnknownFault } from '../../../workshop/simulator/fault.ts';
import { arkCaller, image, seedance2, startHarness, tasksPath, testKey, text } from './support.ts';
import type { Answer, ArkCaller, Harness, Json } from './support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
const ark: ArkCaller = arkCaller(harness);
beforeEach(() => {
  harness.control.reset();
});
afterAll(() => harness.close());

const prompted = (prompt: string): Promise<Answer> => ark.create({ content: text(prompt) });

describe('the grammar', () => {
  it.each([
    ['429', { stage: 'create', name: '429' }],
    ['429=3', { stage: 'create', name: '429', argument: '3' }],
    ['429=3*2', { stage: 'create', name: '429', argument: '3', times: 2 }],
    ['poll:502*4', { stage: 'poll', name: '502', times: 4 }],
    ['ratio=9:16', { stage: 'task', name: 'ratio', argument: '9:16' }],
    ['callback-twice', { stage: 'callback', name: 'callback-twice' }],
  ])('reads %s', (source, fault) => {
    expect(parseFault(source)).toEqual({ ...fault, source });
  });

  it.each(['', 'nonsense', 'poll:never-finishes', 'submit:429', '429*x', '429 3'])(
    'refuses "%s"',
    (source) => {
      expect(() => parseFault(source)).toThrow(UnknownFault);
    },
  );
});

describe('the ways to request a fault', () => {
  it('by a marker in the prompt', async () => {
    expect((await prompted('a [sim:500] cat')).status).toBe(500);
    expect((await prompted('a cat')).status).toBe(200);
  });

  it('by a marker in safety_identifier', async () => {
    expect((await ark.create({ safety_identifier: '[sim:429]' })).status).toBe(429);
  });

  it('by a suffix of the model, which the task then does not have', async () => {
    expect((await ark.create({ model: `${seedance2}+503` })).status).toBe(503);
    const id = await ark.created({ model: `${seedance2}+never-finishes+missing-usage` });
    expect((await ark.get(id)).body.model).toBe(seedance2);
  });

  it('by a header, on whatever request it comes with', async () => {
    expect((await ark.create({}, { 'x-simulate': '500' })).status).toBe(500);
    const id = await ark.created();
    const poll = await harness.call('GET', `${tasksPath}/${id}`, undefined, { 'x-simulate': 'poll:429=7' });
    expect([poll.status, poll.headers.get('retry-after')]).toEqual([429, '7']);
    expect(
      (await harness.call('DELETE', `${tasksPath}/${id}`, undefined, { 'x-simulate': '500' })).status,
    ).toBe(500);
  });

  it('by a rule, as often as it says and where it matches', async () => {
    const rule = { match: { prompt: 'wolf', model: 'seedance' }, fault: '500', times: 2 };
    expect((await harness.call('POST', '/_control/faults', rule)).status).toBe(200);
    const outcomes: number[] = [];
    for (const prompt of ['a cat', 'a wolf', 'a wolf', 'a wolf'])
      outcomes.push((await prompted(prompt)).status);
    expect(outcomes).toEqual([200, 500, 500, 200]);
  });

  it('by a rule on polls, of the tasks that match', async () => {
    const wolf = await ark.created({ content: text('a wolf') });
    const cat = await ark.created();
    harness.control.addFault({ match: { prompt: 'wolf' }, fault: 'poll:502', times: 1 });
    expect((await ark.get(cat)).status).toBe(200);
    expect((await ark.get(wolf)).status).toBe(502);
    expect((await ark.get(wolf)).status).toBe(200);
  });

  it('by a rule on tasks', async () => {
    harness.control.addFault({
      match: { dialect: 'ark', method: 'POST', path: '/tasks' },
      fault: 'failed',
      times: 1,
    });
    const ids = [await ark.created(), await ark.created()];
    harness.control.advance(9);
    const states = await Promise.all(ids.map(async (id) => (await ark.get(id)).body.status));
    expect(states).toEqual(['failed', 'succeeded']);
  });

  it('a number of times for the same prompt', async () => {
    const outcomes: number[] = [];
    for (let index = 0; index < 4; index += 1) outcomes.push((await prompted('first [sim:429*2]')).status);
    expect(outcomes).toEqual([429, 429, 200, 200]);
    expect((await prompted('another [sim:429*2]')).status).toBe(429);
  });

  it('but not by a misspelt name', async () => {
    const answer = await prompted('[sim:nevr-finishes]');
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: 'SimulatorUnknownFault',
      message: 'Unknown fault: nevr-finishes',
    });
    expect((await harness.call('POST', '/_control/faults', { fault: 'nonsense' })).status).toBe(400);
  });

  it('and is gone when the rules are cleared', async () => {
    harness.control.addFault({ match: {}, fault: '500' });
    expect((await harness.call('GET', '/_control/faults')).body.faults).toMatchObject([
      { fault: '500', left: null },
    ]);
    await harness.call('DELETE', '/_control/faults');
    expect((await ark.create()).status).toBe(200);
  });
});

describe('faults of a task', () => {
  async function life(prompt: string, steps: readonly number[]): Promise<Json[]> {
    const id = await ark.created({ content: text(prompt) });
    const seen: Json[] = [];
    for (const step of steps) {
      harness.control.advance(step);
      seen.push((await ark.get(id)).body);
    }
    return seen;
  }
  const statuses = (seen: readonly Json[]): unknown[] => seen.map(({ status }) => status);

  it('render and queue: its own times', async () => {
    expect(statuses(await life('[sim:render=0.5][sim:queue=2]', [1.9, 0.2, 0.5]))).toEqual([
      'queued',
      'running',
      'succeeded',
    ]);
    expect(statuses(await life('[sim:render=0]', [0]))).toEqual(['succeeded']);
    expect(statuses(await life('[sim:render=100]', [9, 80, 20]))).toEqual(['queued', 'running', 'succeeded']);
  });

  it('media: any fault of an exchange, on the result link', async () => {
    const [broken] = await life('[sim:media:500]', [9]);
    expect((await fetch(broken.content.video_url)).status).toBe(403);
    const [huge] = await life('[sim:media:huge-body=1]', [9]);
    expect((await (await fetch(huge.content.video_url)).arrayBuffer()).byteLength).toBeGreaterThanOrEqual(
      1024 * 1024,
    );
    const [reset] = await life('[sim:media:reset]', [9]);
    await expect(fetch(reset.content.video_url)).rejects.toThrow('fetch failed');
    const [proxy] = await life('[sim:media:502]', [9]);
    expect((await fetch(proxy.content.video_url)).status).toBe(502);
  });
});

describe('faults of polls', () => {
  it('strike the GET and a list that names the task, a number of times', async () => {
    const id = await ark.created({ content: text('[sim:poll:500*2]') });
    const other = await ark.created();
    expect((await ark.get(other)).status).toBe(200);
    expect((await ark.get(id)).status).toBe(500);
    expect((await ark.list(`filter.task_ids=${other}&filter.task_ids=${id}`)).status).toBe(500);
    expect((await ark.get(id)).status).toBe(200);
  });

  it('do not strike other exchanges', async () => {
    const id = await ark.created({ content: text('[sim:delete:500]') });
    expect((await ark.get(id)).status).toBe(200);
    expect((await ark.remove(id)).status).toBe(500);
  });
});

it('ignores faults in other texts', async () => {
  const answer = await harness.call('POST', tasksPath, {
    model: seedance2,
    content: [image('first_frame', 'https://x.example/[sim:500].png')],
  });
  expect(answer.status).toBe(200);
});

it('refuses the key before it looks for faults', async () => {
  const response = await fetch(harness.url + tasksPath, {
    method: 'POST',
    headers: { 'x-simulate': '500' },
    body: '{}',
  });
  expect(response.status).toBe(401);
  expect(testKey).not.toBe('');
});
