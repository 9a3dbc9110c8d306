import { ApplicationFailure } from '@temporalio/activity';
import { expect, it } from 'vitest';
import type { FinishTask } from '../../activities/types.ts';
import { actionUpdate, cancelUpdate } from '../../workflows/messages.ts';
import { usePlayedTasks } from './played-tasks.ts';

/** A cancel that is asked of the upstream while its polling breaks: the test plays the activities. */
const candidate = { channel: 'one', credential: 'a' };
const finished: FinishTask[] = [];
let polls = 0;

function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}
const cancelAsked = signal();
const attentionRaised = signal();

const tasks = usePlayedTasks({
  task: {
    claimTask: async () => ({
      state: 'accepted',
      attempts: 1,
      job: { candidate, operation: { id: 'job' }, acceptedAt: Date.now() },
    }),
    finishTask: async (finish) => {
      finished.push(finish);
      return { charge: '1' };
    },
    recordAction: async () => undefined,
    noteAttention: async (_task, reason) => {
      if (reason === 'poll_failed') attentionRaised.give();
    },
  },
  channel: {
    poll: async () => {
      polls += 1;
      if (polls > 1) return { kind: 'succeeded', facts: {} };
      await cancelAsked.given;
      throw ApplicationFailure.nonRetryable('polling broke');
    },
    cancelUpstream: async () => {
      cancelAsked.give();
      await attentionRaised.given;
      return 'refused';
    },
  },
});

it('a cancel that the upstream refused stays refused when an operator is asked meanwhile', async () => {
  const handle = await tasks.start({ candidates: [candidate] });
  await expect.poll(() => polls, { timeout: 20_000 }).toBe(1);
  expect(await handle.executeUpdate(cancelUpdate)).toMatchObject({ cancelled: false });
  // It waits for the operator: the wish that was refused neither ends it now nor once the operator has decided.
  expect(finished).toEqual([]);
  const decision = { by: 'ada', reason: 'the channel works again' };
  const retry = handle.executeUpdate(actionUpdate('retry_now'), { args: [decision] });
  expect(await retry).toMatchObject({ task: 'The upstream is polled again.' });
  expect(await handle.result()).toEqual({ status: 'succeeded', charge: '1' });
  expect(polls).toBe(2);
});
