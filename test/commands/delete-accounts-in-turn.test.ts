import { expect, it } from 'vitest';
import { createDeleteAccounts } from '../../src/commands/delete-account.ts';
import { createRemoveTasks } from '../../src/commands/remove-tasks.ts';
import { createLogger } from '../../src/observability/log.ts';

const log = createLogger({ level: 'silent', format: 'json' });
const ids = Array.from({ length: 250 }, (_, n) => `account-${String(n).padStart(3, '0')}`);

function deletions(isSlow: boolean) {
  const seen: string[] = [];
  let isOver = false;
  const step = createDeleteAccounts({
    accounts: {
      deleting: async (after: string) =>
        ids
          .filter((id) => id > after)
          .slice(0, 100)
          .map((id) => ({ id, closedAt: 0 })),
    },
    keys: {
      async idsOf(id: string) {
        seen.push(id);
        isOver = isSlow;
        throw new Error('the server did not answer');
      },
    },
    log,
    now: Date.now,
  } as never);
  return async (): Promise<string[]> => {
    isOver = false;
    await step({ isOver: () => isOver });
    return seen.splice(0);
  };
}

it('an account that cannot be deleted comes first in only one step', async () => {
  const step = deletions(true);
  const seen = [await step(), await step(), await step()];
  expect(seen).toEqual(ids.slice(0, 3).map((id) => [id]));
});

it('every account has its turn, although more are being deleted than fit into a step', async () => {
  const step = deletions(false);
  const seen = new Set([...(await step()), ...(await step()), ...(await step())]);
  expect([...seen].toSorted()).toEqual(ids);
});

it('a task stays until its copies are deleted, if the time is over before', async () => {
  const removed: string[] = [];
  const removeMany = async (tasks: readonly string[]) => void removed.push(...tasks);
  const removeTasks = createRemoveTasks({
    tasks: { removeEnded: async (tasks) => tasks.length },
    requests: { removeMany },
    exchanges: { removeMany: async () => undefined },
    removeCopies: async ([first = '']) => [first],
  });
  expect(await removeTasks(['reached', 'not reached'], () => true)).toBe(1);
  expect(removed).toEqual(['reached']);
});
