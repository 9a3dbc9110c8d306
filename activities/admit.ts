import { formatMicros } from '../src/domain/money.ts';
import type { Admission, TaskInput } from '../src/domain/task-input.ts';
import type { TaskActivityDeps } from './deps.ts';

/**
 * The admission of tasks up to revision 2, whose workflow takes the hold; later tasks start with theirs (src/tasks).
 * Every refusal is followed by `abandonAdmission`.
 */
export function createAdmitTask({ tasks, ledger, now }: TaskActivityDeps) {
  return async function admitTask(input: TaskInput, version: string): Promise<Admission> {
    const known = await tasks.find(input.task);
    if (known !== undefined) return { admitted: true, createdAt: known.createdAt };
    if (now() > (input.admitBy ?? 0)) return tooLate;
    if (input.concurrentTasks !== undefined && !(await hasRoom(input.key, input.concurrentTasks))) {
      return {
        admitted: false,
        refusal: 'concurrency_limit_exceeded',
        message: `This API key may have ${input.concurrentTasks} unfinished tasks. Wait for one to finish.`,
      };
    }
    const amount = BigInt(input.hold);
    const held = await ledger.hold({
      account: input.account,
      task: input.task,
      amount,
      basis: JSON.stringify(input.basis),
      overdraftLimit: BigInt(input.overdraftLimit ?? 0),
    });
    if (!held.ok) {
      if (held.refused === 'voided') return tooLate;
      const message = `The task may cost up to ${formatMicros(amount)}, and ${formatMicros(held.available)} is available.`;
      return { admitted: false, refusal: 'insufficient_balance', message };
    }
    const { task: id, account, key, kind, model, createdAt, deadlineAt } = input;
    await tasks.insert(
      { id, account, key, kind, model, createdAt, deadlineAt, hold: amount },
      BigInt(version),
    );
    return { admitted: true, createdAt };
  };

  async function hasRoom(key: string, limit: number): Promise<boolean> {
    return (await tasks.countOpen(key, limit)) < limit;
  }
}

/** Also the result of a workflow whose admission failed. */
const tooLate: Admission = {
  admitted: false,
  refusal: 'service_unavailable',
  message: 'The service is busy and created nothing. Try again shortly.',
};

/** Undoes an admission that was refused or came too late, and one that is still being written somewhere. */
export function createAbandonAdmission({ tasks, ledger }: TaskActivityDeps) {
  return async function abandonAdmission(task: string, account: string): Promise<void> {
    const known = await tasks.find(task);
    // A workflow that was reset: the task was admitted long ago.
    if (known !== undefined && known.status !== 'pending') return;
    await ledger.void({ account, task, note: 'admission abandoned' });
    await tasks.removeUnadmitted(task);
  };
}
