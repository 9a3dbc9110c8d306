import { nextStep } from '../src/task/service.ts';
import type { Service, Unserved } from '../src/task/service.ts';
import { createSightings } from '../src/process/sightings.ts';
import type { Sightings } from '../src/process/sightings.ts';
import { openTo } from '../src/task/rounds.ts';
import { attemptAt, isIdle, isUnfinished } from '../src/task/state.ts';
import { inputOf } from '../src/task/input.ts';
import type { Task } from '../src/task/record.ts';
import { heldBasis } from '../src/money/ledger-basis.ts';
import type { PriceBasis } from '../src/money/price.ts';
import { hasCredential } from '../src/routing/channels.ts';
import { createConcerns } from './concerns.ts';
import type { TaskActivityDeps } from './deps.ts';
import { createFinishTask } from './finish.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { ReconcileReport } from './types.ts';

/** A task is abandoned if it has no running workflow and does not change for this long, by our own clock. */
const abandonedAfterMs = 2 * 60_000;
/** So long nobody serves a channel, by our own clock, before a person is asked. */
const unservedAfterMs = 2 * 60_000;
/** A task whose deadline passed this long ago is overdue: its workflow has had its last question and its end. */
const overdueGraceMs = 10 * 60_000;

/**
 * The reconciler looks at records that do not change. If Temporal has lost the workflow, the reconciler restarts it.
 * If the workflow is closed, the reconciler ends the task. If an ended task still owes its callback, the reconciler
 * starts the delivery. It never compares the clocks of two processes. A task that cannot be repaired stops neither the
 * other tasks nor the upkeep.
 */
export function createReconcileTasks(deps: TaskActivityDeps) {
  const { tasks, log } = deps;
  const sightings = createSightings(deps.now);
  const { repairAbandoned, deliverOwed, askAboutOverdue, askAboutFailing } = createRepairs(deps);
  const { askAboutChannel, askAboutWorker } = createChannelQuestions(deps, sightings);

  return async function reconcileTasks(): Promise<ReconcileReport> {
    return withHeartbeat(reconcile());
  };

  async function reconcile(): Promise<ReconcileReport> {
    const counts = { checked: 0, repaired: 0, failed: 0 };
    /** One step of a loop over many, which says whether it has repaired something; or the loop itself. */
    const attempt = async (step: string, task: string, run: () => Promise<unknown>): Promise<boolean> => {
      counts.checked += 1;
      try {
        const isRepaired = (await run()) === true;
        if (isRepaired) counts.repaired += 1;
        return isRepaired;
      } catch (error) {
        counts.failed += 1;
        log.error({ step, task, err: error }, 'the reconciler could not repair a task');
        return false;
      }
    };
    const isAbandoned = (task: Task): boolean => sightings.unchangedMs(task.id, task.rev) >= abandonedAfterMs;
    const running = new Set<string>();
    const isLeft = (task: Task): boolean => isAbandoned(task) && !running.has(task.id);
    await attempt('running', '', async () => {
      for await (const id of deps.workflows.running()) running.add(id);
    });
    await attempt('unfinished', '', async () => {
      const workers = await deps.workers();
      for await (const task of tasks.unfinished()) {
        if (await attempt('unfinished', task.id, async () => isLeft(task) && repairAbandoned(task))) continue;
        await attempt('channel', task.id, () => askAboutChannel(task));
        await attempt('worker', task.id, () => askAboutWorker(task, workers));
        await attempt('overdue', task.id, () => askAboutOverdue(task, isAbandoned(task)));
      }
    });
    await attempt('owing', '', async () => {
      for await (const task of tasks.owing()) {
        await attempt('owing', task.id, async () => isLeft(task) && deliverOwed(task));
      }
    });
    await attempt('failing', '', async () => {
      const failing = new Set<string>();
      for await (const id of deps.workflows.failing()) {
        failing.add(id);
        await attempt('failing', id, () => askAboutFailing(id));
      }
      for await (const { id } of tasks.asking('workflow_failing')) {
        const withdraw = () => tasks.withdrawConcern(id, 'workflow_failing');
        if (!failing.has(id)) await attempt('failing', id, withdraw);
      }
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

/** The try of a creation that is not over, or was abandoned. */
function tryOf(state: Task['state']): string | undefined {
  if (state.at === 'creating') return state.tryId;
  return state.at === 'ended' ? state.abandoned : undefined;
}

function createRepairs(deps: TaskActivityDeps) {
  const { tasks, ledger, workflows, log, now } = deps;
  const { note } = createConcerns(deps);
  const finish = createFinishTask(deps);
  return { repairAbandoned, deliverOwed, askAboutOverdue, askAboutFailing };

  async function repairAbandoned(task: Task): Promise<boolean> {
    const { id, account, key, state } = task;
    const run = await workflows.find(id);
    if (run === 'running') return false;
    // One that had a workflow may have been answered with 200.
    const tryId = tryOf(state);
    if (tryId !== undefined && (state.at === 'ended' || run === undefined)) {
      const isGone = (await deps.abandonCreation({ task: id, account, key, tryId })) === 'abandoned';
      if (isGone) log.warn({ task: id }, 'abandoned a creation whose process died');
      return isGone;
    }
    const held = (await ledger.entriesOfTask(id)).find(({ kind }) => kind === 'hold');
    const basis = heldBasis(held?.basis);
    return run === 'closed' || basis === undefined ? end(task, basis ?? noBasis) : restart(task, basis);
  }

  /** Starts a new workflow for one that Temporal has lost. It continues from the record, as after a reset. */
  async function restart(task: Task, basis: PriceBasis): Promise<boolean> {
    const { id, state } = task;
    log.error({ task: id, state: state.at }, 'Temporal has lost the workflow of a task: it is started again');
    await deps.start(inputOf(task, { basis, ...deps.termsOf(task.model) }));
    return true;
  }

  async function end({ id }: Task, basis: PriceBasis): Promise<boolean> {
    const orphaned = await tasks.step(id, { kind: 'orphaned' });
    if (!orphaned.ok) return false;
    log.error({ task: id, status: orphaned.task.status }, 'ended a task whose workflow is closed');
    const last = { task: id, basis };
    const finished = await finish(last);
    if (finished.state.at === 'review') {
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

  async function askAboutOverdue(task: Task, isUnchanged: boolean): Promise<boolean> {
    const { id, deadlineAt, state, attention } = task;
    // An end that is decided is written within seconds.
    const isOverdue = now() - deadlineAt >= overdueGraceMs || (state.at === 'ending' && isUnchanged);
    if (!isOverdue || attention !== undefined || state.at === 'creating') return false;
    if (!(await workflows.isRunning(id))) return false;
    log.error({ task: id }, 'a task is overdue, and its workflow still runs');
    return note(id, 'workflow_overdue');
  }

  /** Nothing that it waits for happens until its workflow can continue: nobody would notice before its deadline. */
  async function askAboutFailing(id: string): Promise<boolean> {
    const task = await tasks.find(id);
    if (task === undefined || !isUnfinished(task.state) || task.attention !== undefined) return false;
    log.error({ task: id }, 'the steps of a task’s workflow fail one after the other');
    // It could show nothing: it does not hear of it.
    return tasks.setConcern(id, 'workflow_failing');
  }
}

function createChannelQuestions(deps: TaskActivityDeps, sightings: Sightings) {
  const { channels, isConfigCurrent, signals, log } = deps;
  const { note, withdraw } = createConcerns(deps);
  return { askAboutChannel, askAboutWorker };

  /** Nobody serves the queues of a channel that the configuration lacks. */
  async function askAboutChannel({ id, state, attempts, concern }: Task): Promise<boolean> {
    if (!isConfigCurrent()) return false;
    const attempt = attemptAt(state, attempts);
    if (attempt === undefined) return false;
    const isGone = !hasCredential(channels(attempt.channel), attempt.credential);
    if (isGone === (concern === 'channel_gone')) return false;
    return isGone ? note(id, 'channel_gone') : withdraw(id, 'channel_gone');
  }

  /** This worker runs: others are missing. A restart of one is over before anybody is asked. */
  async function askAboutWorker(task: Task, { unserved }: Pick<Service, 'unserved'>): Promise<boolean> {
    const { id, concern, attention } = task;
    const missing = unserved(nextStep(task)?.channel);
    if (missing === undefined) return concern === 'no_worker' && withdraw(id, 'no_worker');
    if (await turnElsewhere(task, unserved)) return true;
    if (!isLasting(missing) || attention !== undefined) return false;
    return note(id, 'no_worker');
  }

  function isLasting({ channel = '', since = 0 }: Unserved): boolean {
    return sightings.unchangedMs(`worker/${channel}`, since) >= unservedAfterMs;
  }

  /** What is not submitted yet waits for nobody while another channel of its plan is served. */
  async function turnElsewhere(task: Task, unserved: Service['unserved']): Promise<boolean> {
    const { id, state } = task;
    if (!isIdle(state)) return false;
    if (openTo(task).every(({ channel }) => unserved(channel) !== undefined)) return false;
    const left = state.left.filter(({ channel }) => {
      const missing = unserved(channel);
      const isGone = isConfigCurrent() && channels(channel) === undefined;
      return missing !== undefined && (isLasting(missing) || isGone);
    });
    if (left.length === 0) return false;
    const names = left.map(({ channel }) => channel);
    log.warn({ task: id, channel: names.join(', ') }, 'no worker serves the channel: another one is asked');
    await signals.unserved(id, names);
    return true;
  }
}

/** Of a task for which nothing was held. */
const noBasis = { price: { minimum: '0', lines: [] }, facts: {}, version: '' } as const;
