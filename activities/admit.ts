import { formatMicros } from '../src/domain/money.ts';
import type { Admission, TaskInput } from '../src/domain/task-input.ts';
import type { TaskActivityDeps } from './deps.ts';

/** Takes the hold and writes the first projection: two writes, both repeatable, and the create is answered. */
export function createAdmitTask({ tasks, ledger }: TaskActivityDeps) {
  return async function admitTask(input: TaskInput, version: string): Promise<Admission> {
    if (input.concurrentTasks !== undefined && !(await hasRoom(input, input.concurrentTasks))) {
      return {
        admitted: false,
        refusal: 'concurrency_limit_exceeded',
        message: `This API key may have ${input.concurrentTasks} unfinished tasks. Wait for one to end.`,
      };
    }
    const amount = BigInt(input.hold);
    const held = await ledger.hold({
      account: input.account,
      task: input.task,
      amount,
      basis: JSON.stringify(input.basis),
      overdraftLimit: BigInt(input.overdraftLimit),
    });
    if (!held.ok) {
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

  /** A repeated admission finds its own projection and is not counted twice. */
  async function hasRoom(input: TaskInput, limit: number): Promise<boolean> {
    const open = await tasks.countOpen(input.key, limit);
    return open < limit || (await tasks.find(input.task)) !== undefined;
  }
}

export function createAbandonAdmission({ tasks, ledger }: TaskActivityDeps) {
  return async function abandonAdmission(task: string, account: string): Promise<void> {
    const hold = (await ledger.entriesOfTask(task)).find((entry) => entry.kind === 'hold');
    if (hold !== undefined) {
      await ledger.release({ account, task, held: hold.amount, note: 'admission abandoned' });
    }
    await tasks.removeUnadmitted(task);
  };
}
