import { Context } from '@temporalio/activity';
import { createTurns } from '../src/base/turns.ts';
import type { UpkeepName } from '../src/base/upkeep-times.ts';
import { walk, type IsOver, type StepTime } from '../src/base/walk.ts';
import { nextStep, type Service, type Unserved } from '../src/task/service.ts';
import { createSightings, type Sightings } from '../src/process/sightings.ts';
import { openTo } from '../src/task/rounds.ts';
import { attemptAt, isIdle, isUnfinished } from '../src/task/state.ts';
import { inputOf } from '../src/task/input.ts';
import type { Task } from '../src/task/record.ts';
import { heldBasis } from '../src/money/ledger-basis.ts';
import type { PriceBasis } from '../src/money/price.ts';
import { hasCredential } from '../src/task/candidates.ts';
import { createConcerns } from './concerns.ts';
import type { TaskActivityDeps } from './deps.ts';
import { createFinishTask } from './finish.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { ReconcileReport } from './types.ts';
import { createTimedRuns, createUpkeepRunner } from './upkeep-runner.ts';

/**
 * A task without a running workflow is considered abandoned if its record has not changed for this long by our own
 * clock.
 */
const abandonedAfterMs = 2 * 60_000;
/** How long a channel may be without a worker before an operator is asked, measured by our own clock. */
const unservedAfterMs = 2 * 60_000;
/**
 * How long after its deadline a task may stay open. By then, the workflow should have polled once more and ended it.
 */
const overdueGraceMs = 10 * 60_000;

/**
 * Repairs tasks whose records no longer change. A lost workflow is restarted, a task with a closed workflow is ended,
 * and a pending callback is started. Times of different processes are never compared. A task that cannot be repaired
 * does not stop the others.
 */
export function createReconcileTasks(deps: TaskActivityDeps) {
  const { tasks, log } = deps;
  const sightings = createSightings(deps.now);
  const failures = createFailures();
  const failingTurns = createTurns((id: string) => id);
  const timed = createTimedRuns(deps.now);
  const runUpkeep = createUpkeepRunner(deps, timed);
  const { repairAbandoned, deliverOwed, askAboutOverdue, askAboutFailing } = createRepairs(deps);
  const { askAboutChannel, askAboutWorker } = createChannelQuestions(deps, sightings);

  return async function reconcileTasks(): Promise<ReconcileReport> {
    const { cancellationSignal } = Context.current();
    return withHeartbeat(reconcile(() => cancellationSignal.aborted));
  };

  async function reconcile(isStopped: IsOver): Promise<ReconcileReport> {
    const { counts, fail, attempt } = createAttempts(failures, log);
    const loop = (name: UpkeepName, run: (time: StepTime) => Promise<unknown>): Promise<boolean> =>
      attempt(name, '', () => timed(name, isStopped, run));
    const isAbandoned = (task: Task): boolean => sightings.unchangedMs(task.id, task.rev) >= abandonedAfterMs;
    const running = new Set<string>();
    const isLeft = (task: Task): boolean => isAbandoned(task) && !running.has(task.id);
    const isComplete = { unfinished: false, owing: false };
    await loop('running', async () => {
      for await (const id of deps.workflows.running()) running.add(id);
    });
    await loop('unfinished', async ({ isOver }) => {
      const workers = await deps.workers();
      await walk(failures.last(tasks.unfinished()), {
        loop: 'unfinished tasks',
        isOver,
        async run(task) {
          const { id } = task;
          if (await attempt('unfinished', id, async () => isLeft(task) && repairAbandoned(task))) return true;
          await attempt('channel', id, () => askAboutChannel(task));
          await attempt('worker', id, () => askAboutWorker(task, workers));
          return attempt('overdue', id, () => askAboutOverdue(task, isAbandoned(task)));
        },
        onFailed: ({ id }, error) => fail('unfinished', id, error),
      });
      isComplete.unfinished = !isOver();
    });
    await loop('owing', async ({ isOver }) => {
      await walk(failures.last(tasks.owing()), {
        loop: 'owed callbacks',
        isOver,
        run: (task) => attempt('owing', task.id, async () => isLeft(task) && deliverOwed(task)),
        onFailed: ({ id }, error) => fail('owing', id, error),
      });
      isComplete.owing = !isOver();
    });
    const failing = new Set<string>();
    let isListed = false;
    await loop('failing', async ({ isOver }) => {
      for await (const id of deps.workflows.failing()) failing.add(id);
      isListed = true;
      await walk(failing, {
        loop: 'failing workflows',
        isOver,
        turns: failingTurns,
        run: (id) => attempt('failing', id, () => askAboutFailing(id)),
        onFailed: (id, error) => fail('failing', id, error),
      });
    });
    await loop('asking', async ({ isOver }) => {
      if (!isListed) return;
      await walk(failures.last(tasks.asking('workflow_failing')), {
        loop: 'concerns that passed',
        isOver,
        async run({ id }) {
          const withdraw = () => tasks.withdrawConcern(id, 'workflow_failing');
          return !failing.has(id) && attempt('asking', id, withdraw);
        },
        onFailed: ({ id }, error) => fail('asking', id, error),
      });
    });
    // An incomplete run did not see every task, so it must not forget any.
    if (isComplete.unfinished && isComplete.owing) sightings.forgetOthers();
    failures.endRound();
    return { ...counts, upkeep: await runUpkeep(isStopped) };
  }
}

function createAttempts(failures: ReturnType<typeof createFailures>, log: TaskActivityDeps['log']) {
  const counts = { checked: 0, repaired: 0, failed: 0 };
  const fail = (step: string, task: string, err: unknown): void => {
    counts.failed += 1;
    failures.note(task);
    log.error({ step, task, err }, 'the reconciler could not repair a task');
  };
  const attempt = async (step: string, task: string, run: () => Promise<unknown>): Promise<boolean> => {
    counts.checked += 1;
    try {
      const isRepaired = (await run()) === true;
      if (isRepaired) counts.repaired += 1;
      return isRepaired;
    } catch (error) {
      fail(step, task, error);
      return false;
    }
  };
  return { counts, fail, attempt };
}

const failuresMax = 1_000;

/**
 * Remembers which tasks failed in the previous round. They are tried last, so that they do not use up the time of the
 * others.
 */
function createFailures() {
  let before = new Set<string>();
  let now = new Set<string>();
  return {
    note(id: string): void {
      if (now.size < failuresMax) now.add(id);
    },
    endRound(): void {
      before = now;
      now = new Set();
    },
    async *last(tasks: AsyncIterable<Task>): AsyncGenerator<Task, void, undefined> {
      const failed: Task[] = [];
      for await (const task of tasks) {
        if (before.has(task.id)) failed.push(task);
        else yield task;
      }
      yield* failed;
    },
  };
}

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
    // Do not abandon a task that ever had a workflow, because its caller may have received a 200.
    const tryId = tryOf(state);
    if (tryId !== undefined && (state.at === 'ended' || run === undefined)) {
      const isGone = (await deps.abandonCreation({ task: id, account, key, tryId })) === 'abandoned';
      if (isGone) log.warn({ task: id }, 'abandoned the creation of a task because its process died');
      return isGone;
    }
    const held = (await ledger.entriesOfTask(id)).find(({ kind }) => kind === 'hold');
    // The reads may have missed the hold. It will be there in the next round.
    const note = 'the task has no hold';
    if (held === undefined && (await ledger.blockHold({ account, task: id, note })) !== 'voided')
      return false;
    const basis = heldBasis(held?.basis);
    return run === 'closed' || basis === undefined ? end(task, basis ?? noBasis) : restart(task, basis);
  }

  /**
   * Starts a new workflow for a task whose workflow Temporal has lost. It continues from the record, as after a reset.
   */
  async function restart(task: Task, basis: PriceBasis): Promise<boolean> {
    const { id, state } = task;
    log.error({ task: id, state: state.at }, 'Temporal has lost the workflow of a task; restarting it');
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
      await tasks.step(id, { kind: 'orphaned' });
      await finish(last);
    }
    await deliverOwed(orphaned.task);
    return true;
  }

  async function deliverOwed({ id, hasCallback }: Task): Promise<boolean> {
    if (!hasCallback || (await workflows.isRunning(id))) return false;
    await deps.owedCallback(id);
    return true;
  }

  async function askAboutOverdue(task: Task, isUnchanged: boolean): Promise<boolean> {
    const { id, deadlineAt, state, attention } = task;
    // A task with a decided outcome is also overdue if its record is unchanged, because the outcome should be written
    // within seconds.
    const isOverdue = now() - deadlineAt >= overdueGraceMs || (state.at === 'ending' && isUnchanged);
    if (!isOverdue || attention !== undefined || state.at === 'creating') return false;
    if (!(await workflows.isRunning(id))) return false;
    log.error({ task: id }, 'a task is overdue, but its workflow is still running');
    return note(id, 'workflow_overdue');
  }

  /** Asks an operator about a failing workflow, which nobody would otherwise notice before the deadline. */
  async function askAboutFailing(id: string): Promise<boolean> {
    const task = await tasks.find(id);
    if (task === undefined || !isUnfinished(task.state) || task.attention !== undefined) return false;
    log.error({ task: id }, 'the steps of a task’s workflow keep failing');
    // Do not signal the workflow. Its steps are failing, so it could not display the concern.
    return tasks.setConcern(id, 'workflow_failing');
  }
}

function createChannelQuestions(deps: TaskActivityDeps, sightings: Sightings) {
  const { channels, isConfigCurrent, signals, log } = deps;
  const { note, withdraw } = createConcerns(deps);
  return { askAboutChannel, askAboutWorker };

  /**
   * Asks an operator if the attempt's channel or credential is no longer configured, because then no worker serves its
   * queue.
   */
  async function askAboutChannel({ id, state, attempts, concern }: Task): Promise<boolean> {
    if (!isConfigCurrent()) return false;
    const attempt = attemptAt(state, attempts);
    if (attempt === undefined) return false;
    const isGone = !hasCredential(channels(attempt.channel)?.config, attempt.credential);
    if (isGone === (concern === 'channel_gone')) return false;
    return isGone ? note(id, 'channel_gone') : withdraw(id, 'channel_gone');
  }

  /**
   * Asks an operator if the channel's queue has had no worker for a while. The delay keeps a worker's restart from
   * raising the concern.
   */
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

  /** Moves a task that has not been submitted to another channel, so that no operator is needed. */
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
    log.warn({ task: id, channel: names.join(', ') }, 'no worker serves the channel; trying another channel');
    await signals.unserved(id, names);
    return true;
  }
}

const noBasis = { price: { minimum: '0', lines: [] }, facts: {}, version: '' } as const;
