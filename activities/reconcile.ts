import { Context } from '@temporalio/activity';
import { isTerminal } from '../src/domain/task.ts';
import type { TaskDocument } from '../src/store/tasks.ts';
import type { TaskActivityDeps } from './deps.ts';
import { beating } from './heartbeat.ts';
import type { ReconcileReport } from './types.ts';

/** Looks this far back for workflows that ended without finishing their task. */
const lookBackMs = 3 * 3600 * 1000;
/** A task whose deadline passed this long ago is overdue: its workflow has had its last look and its callbacks. */
const overdueGraceMs = 10 * 60 * 1000;
const overdueMax = 500;

/**
 * Repairs what a terminated, failed or deleted workflow left behind: the hold is released and the task ends. A task
 * that the ledger says is paid is shown as succeeded.
 */
export function createReconcileTasks(deps: TaskActivityDeps) {
  const { tasks, ledger, workflows, log, now } = deps;

  return async function reconcileTasks(): Promise<ReconcileReport> {
    return beating(reconcile());
  };

  async function reconcile(): Promise<ReconcileReport> {
    let checked = 0;
    let repaired = 0;
    const check = async (task: TaskDocument | undefined): Promise<void> => {
      checked += 1;
      Context.current().heartbeat(checked);
      if (task === undefined || isTerminal(task.status)) return;
      if (await workflows.isRunning(task._id)) return;
      await repair(task);
      repaired += 1;
    };
    for await (const id of workflows.closedAbnormally(now() - lookBackMs)) {
      const task = await tasks.find(id);
      if (task === undefined) await releaseOrphan(id);
      await check(task);
    }
    for (const task of await tasks.listOverdue(now() - overdueGraceMs, overdueMax)) await check(task);
    return { checked, repaired, upkeep: await keepUp() };
  }

  async function keepUp(): Promise<ReconcileReport['upkeep']> {
    const mended: Record<string, number> = {};
    for (const { name, run } of deps.upkeep) {
      try {
        mended[name] = await run();
      } catch (error) {
        log.error({ step: name, err: error }, 'a step of the reconciler failed');
      }
    }
    return mended;
  }

  /** A workflow that died between its hold and its projection. */
  async function releaseOrphan(task: string): Promise<void> {
    const entries = await ledger.entriesOfTask(task);
    const hold = entries.find((entry) => entry.kind === 'hold');
    if (hold === undefined) return;
    await ledger.release({
      account: hold.account,
      task,
      held: hold.amount,
      note: 'reconciled: no workflow',
    });
  }

  async function repair(task: TaskDocument): Promise<void> {
    log.error({ task: task._id, status: task.status }, 'a task lost its workflow; it is ended now');
    const version = BigInt(now()) * 1000n;
    const closed = await ledger.release({
      account: task.account,
      task: task._id,
      held: task.hold,
      note: 'reconciled: the workflow is gone',
    });
    const paid = closed.closed === 'settled';
    await tasks.finish(task._id, {
      status: paid ? 'succeeded' : 'failed',
      version,
      charge: closed.closed === 'settled' ? closed.charged : 0n,
      chargeEstimated: false,
      ...(paid
        ? {}
        : {
            error: {
              code: 'internal_error',
              message: 'The task was interrupted inside the service. Nothing was charged.',
            },
          }),
    });
  }
}
