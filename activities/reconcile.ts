import { Context } from '@temporalio/activity';
import { taskFailures } from '../src/domain/task-failures.ts';
import { isTerminal } from '../src/domain/task.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { TaskActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { ReconcileReport } from './types.ts';

/** Looks this far back for workflows that ended without finishing their task. */
const lookBackMs = 3 * 3600 * 1000;
/** A task whose deadline passed this long ago is overdue: its workflow has had its final poll and its callbacks. */
const overdueGraceMs = 10 * 60 * 1000;
/** A creation takes seconds; one that is this old has lost its process (src/tasks/admission.ts: slowAfterMs). */
const creationMaxMs = 2 * 60 * 1000;

/**
 * Repairs what lost its process or its workflow: creations are abandoned, tasks end, and what the ledger says is paid
 * is shown as succeeded. One task that cannot be repaired stops neither the others nor the upkeep.
 */
export function createReconcileTasks(deps: TaskActivityDeps) {
  const { tasks, workflows, log, now } = deps;
  const { repairClosed, abandonUnstarted, repairOverdue, askAboutFailing, withdrawFailing } =
    createRepairs(deps);

  return async function reconcileTasks(): Promise<ReconcileReport> {
    return withHeartbeat(reconcile());
  };

  async function reconcile(): Promise<ReconcileReport> {
    const counts = { checked: 0, repaired: 0, failed: 0 };
    /** One step of a loop over many, or the loop itself. */
    const attempt = async (step: string, task: string, run: () => Promise<boolean>): Promise<void> => {
      counts.checked += 1;
      Context.current().heartbeat(counts.checked);
      try {
        if (await run()) counts.repaired += 1;
      } catch (error) {
        counts.failed += 1;
        log.error({ step, task, err: error }, 'the reconciler could not repair a task');
      }
    };
    await attempt('closed', '', async () => {
      for await (const id of workflows.closedAbnormally(now() - lookBackMs)) {
        await attempt('closed', id, () => repairClosed(id));
      }
      return false;
    });
    await attempt('unstarted', '', async () => {
      for await (const task of tasks.unstarted(now() - creationMaxMs)) {
        await attempt('unstarted', task.id, () => abandonUnstarted(task));
      }
      return false;
    });
    await attempt('overdue', '', async () => {
      for await (const task of tasks.overdue(now() - overdueGraceMs)) {
        await attempt('overdue', task.id, () => repairOverdue(task));
      }
      return false;
    });
    await attempt('failing', '', async () => {
      const failing = new Set<string>();
      for await (const id of workflows.failing()) {
        failing.add(id);
        await attempt('failing', id, () => askAboutFailing(id));
      }
      for await (const task of tasks.asking('workflow_failing')) {
        if (!failing.has(task.id)) await attempt('failing', task.id, () => withdrawFailing(task));
      }
      return false;
    });
    return { ...counts, upkeep: await runUpkeep() };
  }

  async function runUpkeep(): Promise<ReconcileReport['upkeep']> {
    const repaired: Record<string, number> = {};
    for (const { name, run } of deps.upkeep) {
      try {
        repaired[name] = await run();
      } catch (error) {
        log.error({ step: name, err: error }, 'a step of the reconciler failed');
      }
    }
    return repaired;
  }
}

function createRepairs(deps: TaskActivityDeps) {
  const { tasks, ledger, workflows, log, now } = deps;
  return { repairClosed, abandonUnstarted, repairOverdue, askAboutFailing, withdrawFailing };

  async function repairClosed(id: string): Promise<boolean> {
    const task = await tasks.find(id);
    if (task === undefined || isTerminal(task.status) || (await workflows.isRunning(id))) return false;
    await end(task);
    return true;
  }

  async function abandonUnstarted({ id, account, key, unstarted }: Task): Promise<boolean> {
    // The workflow exists and waits for a worker, which will claim the task.
    if (unstarted === undefined || (await workflows.isRunning(id))) return false;
    const isAbandoned = await deps.abandonCreation({ task: id, account, key, unstarted });
    if (isAbandoned) log.warn({ task: id }, 'abandoned a creation whose process died');
    return isAbandoned;
  }

  async function repairOverdue(task: Task): Promise<boolean> {
    if (task.unstarted !== undefined) return false;
    if (!(await workflows.isRunning(task.id))) {
      await end(task);
      return true;
    }
    if (task.attention !== undefined) return false;
    log.error({ task: task.id }, 'a task is overdue, and its workflow still runs');
    await tasks.setAttention(task.id, 'workflow_overdue', task.version + 1n);
    return true;
  }

  /** Nothing that it waits for happens until its workflow can continue: nobody would notice before its deadline. */
  async function askAboutFailing(id: string): Promise<boolean> {
    const task = await tasks.find(id);
    if (task === undefined || isTerminal(task.status) || task.attention !== undefined) return false;
    log.error({ task: id }, 'the steps of a task’s workflow fail one after the other');
    await tasks.setAttention(id, 'workflow_failing', task.version + 1n);
    return true;
  }

  async function withdrawFailing({ id, version }: Task): Promise<boolean> {
    await tasks.setAttention(id, undefined, version + 1n);
    return true;
  }

  async function end(task: Task): Promise<void> {
    const { id, account, key } = task;
    log.error({ task: id, status: task.status }, 'failed a task whose workflow is gone');
    const { closed } = await ledger.void({ account, task: id, note: 'reconciled: the workflow is gone' });
    const charged = closed === 'settled' ? await chargedFor(id) : 0n;
    await tasks.finish(id, {
      status: closed === 'settled' ? 'succeeded' : 'failed',
      version: BigInt(now()) * 1000n,
      charge: charged,
      chargeEstimated: false,
      ...(closed === 'settled' ? {} : { error: taskFailures.interrupted }),
    });
    await Promise.all([deps.slots.release(id), deps.keySlots.release(key, id)]);
    // Whoever ends a task owes its callback.
    await deps.owedCallback(id);
  }

  async function chargedFor(task: string): Promise<bigint> {
    const entries = await ledger.entriesOfTask(task);
    return entries
      .filter(({ kind }) => kind === 'settle' || kind === 'charge_extra')
      .reduce((sum, { amount }) => sum + amount, 0n);
  }
}
