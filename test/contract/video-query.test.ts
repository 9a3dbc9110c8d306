import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, videoCharge, videoTokens, type TestGateway } from '../support/gateway.ts';
import { persevere, type Answer, type TestAccount } from '../support/client.ts';
import { waitUntil } from '../support/processes.ts';

/**
 * Tests sections 2.3, 3 and 4.2 of the interface document: the response to a query, before and after a task finishes.
 */

let gateway: TestGateway;
let account: TestAccount;
let succeeded: Record<string, any>;
let failed: Record<string, any>;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.account();
  const both = await Promise.all([account.made(), account.made({ prompt: 'x [sim:failed]' })]);
  [succeeded = {}, failed = {}] = await Promise.all(both.map((id) => account.finished(id)));
});
afterAll(() => gateway.stop());

const paths = ['/v1/videos/generations', '/v1/video/generations'] as const;

it('the recommended flow of a client: create, poll while unfinished, stop at succeeded', async () => {
  const payer = await gateway.account();
  const id = await payer.made();
  const seen = new Set<string>();
  const asked = { headers: { accept: 'application/json' } };
  let answer: Answer;
  for (;;) {
    answer = await persevere(() => payer.call('GET', `/v1/videos/generations/${id}`, asked));
    seen.add(answer.body.status);
    if (['succeeded', 'failed'].includes(answer.body.status)) break;
    const seconds = Number(answer.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(2);
    expect(seconds).toBeLessThanOrEqual(5);
    await sleep(300);
  }
  for (const status of seen) {
    expect(['pending', 'submitted', 'running', 'succeeded']).toContain(status);
  }
  expect(answer.body.usage.completion_tokens).toBe(videoTokens);
  expect(await payer.balance()).toMatchObject({
    available: (100 - Number(videoCharge)).toFixed(6),
    held: '0.000000',
  });
});

describe('a task that succeeded', () => {
  it.each<[string, (task: Record<string, any>) => unknown, unknown]>([
    ['id', (task) => task['id'], expect.stringMatching(/^task_/)],
    ['task_id, the same', (task) => task['task_id'] === task['id'], true],
    ['object', (task) => task['object'], 'video.generation.task'],
    ['status', (task) => task['status'], 'succeeded'],
    ['message', (task) => task['message'], expect.stringMatching(/\w/)],
    ['trace_id of the upstream', (task) => task['trace_id'], expect.stringMatching(/\w/)],
    ['data with at least one object', (task) => task['data'], [expect.any(Object)]],
    ['data[].url', (task) => task['data'][0].url, expect.stringMatching(/^https?:/)],
    ['video_url, equal to data[0].url', (task) => task['video_url'] === task['data'][0].url, true],
    ['duration', (task) => task['duration'], 5],
    ['usage.completion_tokens', (task) => task['usage'].completion_tokens, videoTokens],
    ['usage.total_tokens', (task) => task['usage'].total_tokens, videoTokens],
    ['progress 100', (task) => task['progress'], 100],
    ['charge', (task) => task['charge'], videoCharge],
    ['no error', (task) => 'error' in task, false],
  ])('carries %s', (_name, pick, expected) => {
    expect(pick(succeeded)).toEqual(expected);
  });
});

describe('a task that failed', () => {
  it('carries error.message and error.code provider_error', () => {
    expect(failed).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/\w/), code: 'provider_error' },
    });
  });

  it('carries no result and no usage', () => {
    expect(failed['data']).toEqual([]);
    for (const field of ['video_url', 'usage', 'duration']) expect(failed).not.toHaveProperty(field);
  });
});

it('a query answers with the same body under both paths', async () => {
  const [plural, singular] = await Promise.all(
    paths.map((path) => account.call('GET', `${path}/${succeeded['id']}`)),
  );
  expect([plural?.status, singular?.status]).toEqual([200, 200]);
  expect(singular?.body).toEqual(plural?.body);
});

it('every status has its name while a task lives', async () => {
  const [waiting, queued, running] = await Promise.all([
    account.made({ prompt: 'waiting [sim:create:429]' }),
    account.made({ prompt: 'queued [sim:never-starts]' }),
    account.made({ prompt: 'running [sim:never-finishes]' }),
  ]);
  const is = (id: string, status: string) =>
    waitUntil(`a task is ${status}`, async () => {
      const { body } = await account.call('GET', `/v1/videos/generations/${id}`);
      return body.status === status;
    });
  await is(queued, 'submitted');
  await is(running, 'running');
  await is(waiting, 'pending');
  for (const id of [waiting, queued]) await account.call('POST', `/v1/videos/generations/${id}/cancel`);
});

it('a status that has ended stays what it is', async () => {
  for (const task of [succeeded, failed]) {
    const { body } = await account.call('GET', `/v1/videos/generations/${task['id']}?wait=1`);
    expect(body).toEqual(task);
  }
});

describe('the money of a task', () => {
  const entriesOf = async (id: string) =>
    (await gateway.core.ledger.entriesOfTask(id)).map(({ kind, amount }) => [kind, amount]);

  it('is held on submission and settled by usage.completion_tokens', async () => {
    const micros = BigInt(Math.round(succeeded['usage'].completion_tokens * 7));
    expect(await entriesOf(succeeded['id'])).toEqual([
      ['hold', 762_300n],
      ['settle', micros],
    ]);
  });

  it('goes back as far as the final charge is lower than the hold', async () => {
    const payer = await gateway.account();
    const id = await payer.made({ duration: -1, resolution: '720p' });
    expect((await payer.balance()).available).not.toBe('100.000000');
    const done = await payer.finished(id);
    const entries = await gateway.core.ledger.entriesOfTask(id);
    const [hold, settle] = entries;
    expect(settle?.amount).toBe(BigInt(done['usage'].completion_tokens * 7));
    expect(settle?.amount ?? 0n).toBeLessThan(hold?.amount ?? 0n);
    const charged = Number(settle?.amount) / 1e6;
    expect(await payer.balance()).toMatchObject({ available: (100 - charged).toFixed(6), held: '0.000000' });
  });

  it('is charged on top as far as the final charge is higher', async () => {
    const id = await account.made({ prompt: 'more [sim:usage-above=2]' });
    await account.finished(id);
    expect(await entriesOf(id)).toEqual([
      ['hold', 762_300n],
      ['settle', 762_300n],
      ['charge_extra', 762_300n],
    ]);
  });
});

it('only the owner queries a task: for another account it does not exist', async () => {
  const stranger = await gateway.account();
  for (const path of paths) {
    const theirs = await stranger.call('GET', `${path}/${succeeded['id']}`);
    const unknown = await stranger.call('GET', `${path}/task_0000000000000000000000`);
    expect([theirs.status, theirs.body.error.code]).toEqual([404, 'task_not_found']);
    expect(theirs.body).toEqual(unknown.body);
  }
});
