import { expect, it } from 'vitest';
import { createStatusPoller } from '../../src/polling/status-poller.ts';
import type { OperationStatus } from '../../src/providers/provider.ts';
import { providerContext } from '../providers/support.ts';

const pending: OperationStatus = { state: 'pending', phase: 'running' };

function gateOf(most: number) {
  let left = most;
  let taken = 0;
  const waiting: (() => void)[] = [];
  const pass = (resolve: () => void): void => {
    left -= 1;
    taken += 1;
    resolve();
  };
  return {
    taken: () => taken,
    more: (count: number) => {
      left += count;
      while (left > 0 && waiting.length > 0) pass(waiting.shift() ?? (() => undefined));
    },
    limiter: {
      take: () =>
        new Promise<void>((resolve) => {
          if (left > 0) pass(resolve);
          else waiting.push(() => resolve());
        }),
      pause: () => undefined,
    },
  };
}

function pollerOf(known: readonly string[], gate: ReturnType<typeof gateOf>) {
  const asked: string[] = [];
  const poller = createStatusPoller({
    provider: () => ({
      listMax: 50,
      status: ({ id }) => {
        asked.push(id);
        return Promise.resolve(pending);
      },
      list: (operations) => {
        asked.push(`list of ${operations.length}`);
        const found = operations.filter(({ id }) => known.includes(id));
        return Promise.resolve(new Map(found.map(({ id }) => [id, pending])));
      },
    }),
    context: (model, signal) => providerContext({ model, signal }),
    limiter: gate.limiter,
    timeoutMs: () => 1_000,
    monotonic: Date.now,
  });
  return { poller, asked };
}

const job = (id: string, model = 'm', account = 'a') => ({
  task: `task-${id}`,
  account,
  operation: { id },
  model,
});
const signal = () => new AbortController().signal;
const settle = () => new Promise((resolve) => void setTimeout(resolve, 200));

it('a job that is missing from a list is polled alone, at the pace of the limiter', async () => {
  const gate = gateOf(1);
  const { poller, asked } = pollerOf(['a'], gate);
  const answers = ['a', 'b', 'c'].map((id) => poller.status(job(id), signal()));
  expect(await answers[0]).toEqual(pending);
  await settle();
  expect(asked).toEqual(['list of 3']);
  gate.more(1);
  expect(await answers[1]).toEqual(pending);
  await settle();
  expect(asked).toEqual(['list of 3', 'b']);
  gate.more(1);
  expect(await answers[2]).toEqual(pending);
  expect(asked).toEqual(['list of 3', 'b', 'c']);
  expect(gate.taken()).toBe(3);
});

it('a poll is not repeated for a caller that has left', async () => {
  const gate = gateOf(1);
  const { poller, asked } = pollerOf(['a'], gate);
  const gone = new AbortController();
  const answers = [poller.status(job('a'), signal()), poller.status(job('b'), gone.signal)];
  expect(await answers[0]).toEqual(pending);
  gone.abort(new Error('gone'));
  await expect(answers[1]).rejects.toThrow('gone');
  gate.more(5);
  await settle();
  expect(asked).toEqual(['list of 2']);
});

it('a missing credential is an error and does not end the process', async () => {
  const poller = createStatusPoller({
    provider: () => ({ status: () => Promise.resolve(pending) }),
    context: () => {
      throw new Error('no such credential');
    },
    limiter: gateOf(1).limiter,
    timeoutMs: () => 1_000,
    monotonic: Date.now,
  });
  await expect(poller.status(job('a'), signal())).rejects.toThrow('no such credential');
});

it('a poll that was cancelled before its request fails at once', async () => {
  const { poller, asked } = pollerOf(['a'], gateOf(5));
  await expect(poller.status(job('a'), AbortSignal.abort(new Error('cancelled before')))).rejects.toThrow(
    'cancelled before',
  );
  await expect(poller.status(job('a'), AbortSignal.abort('a reason that is not an error'))).rejects.toThrow(
    'aborted',
  );
  expect(await poller.status(job('a'), signal())).toEqual(pending);
  expect(asked).toEqual(['a']);
});

it.each([false, true])('accounts alternate, however many jobs each has (lists: %s)', async (canList) => {
  const gate = gateOf(0);
  const batches: string[][] = [];
  const answer = (ids: readonly string[]) => {
    batches.push([...ids]);
    return new Map(ids.map((id) => [id, pending]));
  };
  const poller = createStatusPoller({
    provider: () => ({
      listMax: 4,
      status: async ({ id }) => answer([id]).get(id) ?? pending,
      ...(canList ? { list: async (jobs) => answer(jobs.map(({ id }) => id)) } : {}),
    }),
    context: (model, signal) => providerContext({ model, signal }),
    limiter: gate.limiter,
    timeoutMs: () => 1_000,
    monotonic: Date.now,
  });
  const ask = (account: string, n: number) => poller.status(job(`${account}${n}`, 'm', account), signal());
  const answers = [0, 1, 2, 3, 4, 5].map((n) => ask('large', n));
  answers.push(ask('small', 0), ask('small', 1), ask('third', 0));
  await settle();
  gate.more(100);
  await Promise.all(answers);
  expect(batches.flat().slice(0, 6)).toEqual(['large0', 'small0', 'third0', 'large1', 'small1', 'large2']);
  expect(batches).toHaveLength(canList ? 3 : 9);
});
