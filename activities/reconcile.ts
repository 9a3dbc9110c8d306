import { Context } from '@temporalio/activity';
import { createSightings } from '../src/domain/sightings.ts';
import { attemptAt, isUnfinished } from '../src/domain/task-state.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { Task } from '../src/domain/task-record.ts';
import { heldBasis } from '../src/tasks/held-basis.ts';
import type { TaskActivityDeps } from './deps.ts';
import { createFinishTask } from './finish.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { ReconcileReport } from './types.ts';

/** Who does not change for this long, by our own clock, and has no workflow, is abandoned. */
const abandonedAfterMs = 2 * 60_000;
/** A task whose deadline passed this long ago is overdue: its workflow has had its last question and its end. */
const overdueGraceMs = 10 * 60_000;

/**
 * One rule: a record that does not change, and whose workflow does not run, is ended; one that has ended, and owes its
 * callback, gets it. The clocks of two processes are never compared. One task that cannot be repaired stops neither the
 * others nor the upkeep.
 */
export function createReconcileTasks(deps: TaskActivityDeps) {
  const { tasks, log } = deps;
  const sightings = createSightings(deps.now);
  const { endAbandoned, deliverOwed, askAboutChannel, askAboutOverdue, askAboutFailing, withdrawFailing } =
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
    const isAbandoned = (task: Task): boolean => sightings.unchangedMs(task.id, task.rev) >= abandonedAfterMs;
    const running = new Set<string>();
    await attempt('running', '', async () => {
      for await (const id of deps.workflows.running()) running.add(id);
      return false;
    });
    await attempt('unfinished', '', async () => {
      for await (const task of tasks.unfinished()) {
        await attempt(
          'unfinished',
          task.id,
          async () => isAbandoned(task) && !running.has(task.id) && endAbandoned(task),
        );
        await attempt('channel', task.id, () => askAboutChannel(task));
        await attempt('overdue', task.id, () => askAboutOverdue(task));
      }
      return false;
    });
    await attempt('owing', '', async () => {
      for await (const task of tasks.owing()) {
        await attempt(
          'owing',
          task.id,
          async () => isAbandoned(task) && !running.has(task.id) && deliverOwed(task),
        );
      }
      return false;
    });
    await attempt('failing', '', async () => {
      const failing = new Set<string>();
      for await (const id of deps.workflows.failing()) {
        failing.add(id);
        await attempt('failing', id, () => askAboutFailing(id));
      }
      for await (const task of tasks.asking('workflow_failing')) {
        if (!failing.has(task.id)) await attempt('failing', task.id, () => withdrawFailing(task));
      }
      return false;
    });
    sightings.forgetOthers();
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
  const { tasks, ledger, workflows, channels, log, now } = deps;
  const finish = createFinishTask(deps);
  return { endAbandoned, deliverOwed, askAboutChannel, askAboutOverdue, askAboutFailing, withdrawFailing };

  async function endAbandoned({ id, account, key, unstarted }: Task): Promise<boolean> {
    if (await workflows.isRunning(id)) return false;
    if (unstarted !== undefined) {
      const isGivenUp = await deps.abandonCreation({ task: id, account, key, unstarted });
      if (isGivenUp) log.warn({ task: id }, 'abandoned a creation whose process died');
      return isGivenUp;
    }
    const orphaned = await tasks.step(id, { kind: 'orphaned' });
    if (!orphaned.ok) return false;
    log.error({ task: id, status: orphaned.task.status }, 'ended a task whose workflow is gone');
    const held = (await ledger.entriesOfTask(id)).find(({ kind }) => kind === 'hold');
    const last = { task: id, basis: heldBasis(held?.basis) ?? noBasis };
    const { state } = await finish(last);
    if (state.at === 'review') {
      // Nobody can be asked any more.
      await tasks.step(id, { kind: 'orphaned' });
      await finish(last);
    }
    await deliverOwed(orphaned.task);
    return true;
  }

  /** Whoever ends a task owes its callback. */
  async function deliverOwed({ id, hasCallback }: Task): Promise<boolean> {
    if (!hasCallback || (await workflows.isRunning(id))) return false;
    await deps.owedCallback(id);
    return true;
  }

  /** Nobody serves the queues of a channel that the configuration lacks. */
  async function askAboutChannel({ id, state, attempts, concern }: Task): Promise<boolean> {
    const attempt = attemptAt(state, attempts);
    const isGone = attempt !== undefined && !hasCredential(attempt);
    if (isGone === (concern === 'channel_gone')) return false;
    if (!isGone && attempt === undefined) return false;
    return tasks.setConcern(id, isGone ? 'channel_gone' : undefined);
  }

  function hasCredential({ channel, credential }: RouteCandidate): boolean {
    return channels(channel)?.config.credentials.some(({ id }) => id === credential) === true;
  }

  async function askAboutOverdue({ id, deadlineAt, attention, unstarted }: Task): Promise<boolean> {
    if (now() - deadlineAt < overdueGraceMs || attention !== undefined || unstarted !== undefined)
      return false;
    if (!(await workflows.isRunning(id))) return false;
    log.error({ task: id }, 'a task is overdue, and its workflow still runs');
    return tasks.setConcern(id, 'workflow_overdue');
  }

  /** Nothing that it waits for happens until its workflow can continue: nobody would notice before its deadline. */
  async function askAboutFailing(id: string): Promise<boolean> {
    const task = await tasks.find(id);
    if (task === undefined || !isUnfinished(task.state) || task.attention !== undefined) return false;
    log.error({ task: id }, 'the steps of a task’s workflow fail one after the other');
    return tasks.setConcern(id, 'workflow_failing');
  }

  function withdrawFailing({ id }: Task): Promise<boolean> {
    return tasks.setConcern(id, undefined);
  }
}

/** Of a task for which nothing was held. */
const noBasis = { price: { unit: 'call', minimum: '0', rules: [] }, facts: {}, version: '' } as const;
