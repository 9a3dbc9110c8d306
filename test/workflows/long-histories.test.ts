import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTaskSearch } from '../../src/temporal/search-tasks.ts';
import { startTemporal, type TestTemporal } from '../support/servers.ts';
import { usePlayedTasks, type PlayedTask } from './played-tasks.ts';
import { asks } from './played-upstream.ts';

/** These limits are far below the server's defaults, so that a few updates reach them. */
const limits = { updates: 10, events: 60 };

let directory: string;
let server: TestTemporal;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-long-'));
  server = await startTemporal({
    dir: directory,
    dynamicConfig: [
      `history.maxTotalUpdates=${limits.updates}`,
      `limit.historyCount.suggestContinueAsNew=${limits.events}`,
    ],
  });
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});
const tasks = usePlayedTasks(() => server.address);

/** Requests more cancellations than a single run may receive. */
async function cancelOften(task: PlayedTask): Promise<readonly string[]> {
  const messages: string[] = [];
  for (let n = 0; n < 2.5 * limits.updates; n += 1) {
    const answer = await task.cancel();
    messages.push(answer.cancelled ? 'cancelled' : answer.message);
  }
  return [...new Set(messages)];
}

const runsOf = async ({ id }: PlayedTask): Promise<number> => {
  const runs = new Set<string>();
  for await (const run of tasks.client.workflow.list({ query: `WorkflowId = '${id}'` })) runs.add(run.runId);
  return runs.size;
};

it('a job that cannot be cancelled is still rendered, and paid once, after any number of requests', async () => {
  let end = (): void => undefined;
  const rendered = new Promise<void>((resolve) => (end = resolve));
  tasks.upstream.wait = async () => {
    await Promise.race([rendered, asks()]);
    return { kind: 'succeeded' };
  };
  const task = await tasks.start();
  await task.reaches('waiting');
  expect(await cancelOften(task)).toEqual([expect.stringContaining('can no longer be cancelled')]);
  await expect.poll(() => runsOf(task)).toBeGreaterThan(2);
  const { taskQueue } = await task.handle.describe();
  const search = createTaskSearch(tasks.client, taskQueue.replace(/tasks$/, ''));
  const found = () => search({ query: `WorkflowId = '${task.id}'`, limit: 10 });
  await expect.poll(async () => (await found()).ids).toEqual([task.id]);
  end();
  expect(await task.end()).toMatchObject({ status: 'succeeded' });
  expect(task.calls().filter((call) => call === 'submit one')).toHaveLength(1);
  expect(task.calls().filter((call) => call === 'finish')).toHaveLength(1);
});

it('a task that asks an operator still accepts the decision, and keeps its attention until then', async () => {
  tasks.upstream.submit = async () => ({ kind: 'lost' });
  const task = await tasks.start();
  await task.reaches('asking');
  expect(await cancelOften(task)).toEqual([
    expect.stringContaining('it is not known whether the upstream has the job'),
  ]);
  await expect.poll(() => runsOf(task)).toBeGreaterThan(2);
  await expect.poll(() => task.attribute('NeedsAttention')).toEqual(['submit_ambiguous']);
  await task.did('fail');
  expect(await task.end()).toMatchObject({ status: 'failed' });
  await expect.poll(() => task.attribute('NeedsAttention')).toBeUndefined();
});
