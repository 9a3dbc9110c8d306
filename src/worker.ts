import { createAbandonCreation } from './commands/abandon-creation.ts';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions, WorkflowBundleWithSourceMap } from '@temporalio/worker';
import {
  createCallbackActivities,
  createChannelActivities,
  createTaskActivities,
} from '../activities/index.ts';
import type { WorkerDeps } from '../activities/index.ts';
import type { TaskActivityDeps } from '../activities/deps.ts';
import type { FirstCallbackDeps } from '../activities/first-callback.ts';
import { openNodeReports, type Core } from './compose/core.ts';
import type { NodeReports } from './control/node-reports.ts';
import { readService } from './control/nodes.ts';
import type { Rounds } from './process/rounds.ts';
import { logRejections } from './observability/process-ends.ts';
import { callbacksQueue, channelQueue, isPollsQueue, pollsQueue, tasksQueue } from './base/queues.ts';
import { createStayPlaces, type StayPlaces } from './capacity/stay-places.ts';
import { createStayWakes } from './capacity/stay-wakes.ts';
import { shareChannelPollers, taskPollers } from './temporal/task-pollers.ts';
import { callbackWithinMs } from '../activities/deliver-callback.ts';
import type { ChannelConfig } from './config/gateway-file.ts';
import { allEnded, countActivities, endRuns, isServing, runNew } from './temporal/worker-runs.ts';
import { pacedActivities } from './temporal/paced-activities.ts';
import { tracedActivities } from './temporal/traced-activities.ts';
import { openTaskPort } from './compose/task-port.ts';
import { upkeepOf } from './compose/upkeep.ts';
import { expectedSecondsDefault } from './task/input.ts';
import { bundleWorkflows } from './temporal/workflow-bundle.ts';
import { dataConverter } from './temporal/connection.ts';
import { connectWorker } from './temporal/worker-connection.ts';
import { keepReconcilerSchedule } from './temporal/reconciler-schedule.ts';
import { createRedelivery } from './temporal/redelivery.ts';
import { createWorkflowLookup } from './temporal/workflow-lookup.ts';
import { requireSearchAttributes } from './temporal/search-attributes.ts';
import { startDailyVerification } from './compose/verification.ts';
import { callbackDeps, channelDeps, openResultReaders, monotonic } from './compose/worker-deps.ts';

export interface RunningWorker {
  stop(): Promise<void>;
  readonly ended: Promise<void>;
}

/** Caching a workflow saves a replay but costs about a megabyte of memory. */
const cachedWorkflowsMax = 500;
const channelActivitiesMax = 1000;
const callbackActivitiesMax = 500;
/**
 * The default of 5 s would abort the startup of a worker that is suspended for that long. The SDK's types lack this
 * option.
 */
const workflowCallOptions = { isolateExecutionTimeout: '30s' };
/** Per channel. Includes polls that wait inside the worker because a render is about to finish. */
const pollActivitiesMax = 3000;
const stayingPollsMax = (queue: string): number => (isPollsQueue(queue) ? 2500 : 500);

/**
 * Serves every queue: `tasks`, `callbacks`, and two queues per channel. One of the two is for submissions, the other
 * for everything that follows them.
 */
export async function startWorker(core: Core): Promise<RunningWorker> {
  const [workflowBundle, connection] = await Promise.all([bundleWorkflows(), connectWorker(core.temporal)]);
  await requireSearchAttributes({ connection, namespace: core.temporal.namespace });
  const results = await openResultReaders(core);
  const workers = new Map<string, Worker>();
  const runs: Promise<void>[] = [];
  const create = async (queue: string, options: Omit<WorkerOptions, 'taskQueue'>): Promise<void> => {
    const worker = await Worker.create({ ...commonOptions(core, connection), ...options, taskQueue: queue });
    workers.set(queue, worker);
  };
  const runCreated = (): void => void runs.push(...runNew(workers));
  const prefix = core.environment.TASK_QUEUE_PREFIX;
  const stays = createStayPlaces({ placesMax: stayingPollsMax, monotonic });
  const stayWakes = openStayWakes(core, stays);
  const channels = channelDeps(core, stays, results);
  const activities = { ...createChannelActivities(channels) };
  const callbacks = callbackDeps(core);
  const pollersOf = shareChannelPollers();
  const createChannelWorkers = () => {
    const wanted = channelIds(core).flatMap((id) => queuesOf(core, id));
    const queues = wanted.filter((queue) => !workers.has(queue));
    const options = { activities, activityTaskPollerBehavior: pollersOf(queues.length) };
    return Promise.all(queues.map((queue) => create(queue, { ...options, ...slotsOf(queue) })));
  };
  const [schedule] = await Promise.all([
    keepSchedule(core),
    create(tasksQueue(prefix), tasksOptions(core, { channels, callbacks }, workflowBundle)),
    create(callbacksQueue(prefix), callbacksOptions(callbacks)),
    createChannelWorkers(),
  ]);
  const reports = openReports(core, workers);
  // A reload may add channels, which get their own workers. The queues of removed channels are served until the process
  // exits.
  core.runningConfig.onChange(async () => {
    await createChannelWorkers();
    runCreated();
    await reports.report();
  });
  await createChannelWorkers();
  // Run the workers only now. Otherwise, a failed or interrupted startup could cut off a submission.
  runCreated();
  stayWakes.start();
  await reports.start();
  const verification = startDailyVerification(core);
  const endRejections = logRejections(core.log);
  return {
    ended: allEnded(runs),
    async stop() {
      const left = reports.leave();
      const verified = verification.stop();
      void stayWakes.stop();
      const runsEnded = endRuns(workers, runs, (err) =>
        core.log.error({ err }, 'a worker did not shut down cleanly'),
      );
      // Close the waiting polls only after the workers have stopped asking for activities. Otherwise, the next attempts
      // could reach this worker and be lost.
      stays.close();
      await Promise.all([runsEnded, left, verified, schedule.stop()]);
      await callbacks.promptHosts.idle();
      await Promise.all([connection.close(), results.close(), core.recorder.close(), reports.stop()]);
      // Do this last, because rejections of work that was in flight until now must not crash the process.
      endRejections();
    },
  };
}

function openReports(core: Core, workers: ReadonlyMap<string, Worker>): NodeReports {
  const isServed = (id: string) => queuesOf(core, id).every((queue) => isServing(workers.get(queue)));
  return openNodeReports(core, {
    kind: 'worker',
    inFlight: () => countActivities(workers),
    channels: () => channelIds(core).filter(isServed),
  });
}

function keepSchedule({ client, environment, log }: Core): Promise<Rounds> {
  return keepReconcilerSchedule(client, environment.TASK_QUEUE_PREFIX, {
    onError: (err) =>
      log.warn({ err }, 'the schedule of the reconciler could not be checked; retrying in a minute'),
  });
}

const channelIds = (core: Core): readonly string[] => core.config().channels.map(({ id }) => id);

function openStayWakes({ stores, log }: Core, stays: StayPlaces): Rounds {
  return createStayWakes({
    list: () => stores.wakes.list(),
    stays,
    onError: (err) => log.warn({ err }, 'the tasks to wake could not be read'),
  });
}

function queuesOf({ environment }: Core, channel: string): readonly string[] {
  const prefix = environment.TASK_QUEUE_PREFIX;
  return [channelQueue(prefix, channel), pollsQueue(prefix, channel)];
}

function slotsOf(queue: string): Omit<WorkerOptions, 'taskQueue'> {
  return {
    maxConcurrentActivityTaskExecutions: isPollsQueue(queue) ? pollActivitiesMax : channelActivitiesMax,
  };
}

const shutdownMarginMs = 15_000;

/**
 * Allows a shutdown enough time to finish the longest submission or callback, even if the worker started without
 * channels.
 */
export function shutdownTimes(
  channels: readonly Pick<ChannelConfig, 'timeouts'>[],
): Required<Pick<WorkerOptions, 'shutdownGraceTime' | 'shutdownForceTime'>> {
  const submits = channels.map(({ timeouts }) => Math.max(timeouts.submit_ms, timeouts.image_ms));
  const longestMs = Math.max(callbackWithinMs, ...submits);
  return { shutdownGraceTime: longestMs, shutdownForceTime: longestMs + shutdownMarginMs };
}

function commonOptions(core: Core, connection: NativeConnection): Omit<WorkerOptions, 'taskQueue'> {
  return {
    connection,
    namespace: core.temporal.namespace,
    dataConverter: dataConverter(core.temporal),
    ...shutdownTimes(core.config().channels),
    activityTaskPollerBehavior: taskPollers,
    // Send a submission's heartbeats soon, because they contain its results. The extra load is small, because waiting
    // activities send few heartbeats.
    maxHeartbeatThrottleInterval: '5s',
    // The default, a hash of the code, adds 85 bytes to every workflow task. No deployment uses it as a version.
    buildId: 'mediary',
    ...workflowCallOptions,
    interceptors: {
      activity: [pacedActivities(core.pace), ...tracedActivities(core.tracing?.tasks, core.stores.tasks)],
    },
  };
}

function tasksOptions(
  core: Core,
  others: Pick<WorkerDeps, 'channels' | 'callbacks'>,
  workflowBundle: WorkflowBundleWithSourceMap,
): Omit<WorkerOptions, 'taskQueue'> {
  const port = openTaskPort(core);
  const redeliver = createRedelivery(core.client, core.environment.TASK_QUEUE_PREFIX, { replaces: false });
  const deps: TaskActivityDeps = {
    ...core.stores,
    abandonCreation: createAbandonCreation({ ...core.stores, ledger: core.ledger }),
    owedCallback: redeliver,
    start: (input) => port.start(input),
    termsOf: (model) => {
      const { currency, models } = core.config();
      const known = models.find(({ id }) => id === model);
      return { currency, expectedSeconds: known?.expected_seconds ?? expectedSecondsDefault };
    },
    ledger: core.ledger,
    channels: core.channels,
    slots: core.health.slots,
    upkeep: upkeepOf(core),
    metrics: core.metrics,
    charges: core.charges,
    workflows: createWorkflowLookup(core.client, core.environment.TASK_QUEUE_PREFIX, core.endStay),
    workers: () => readService(core.stores.nodes),
    signals: others.channels.signals,
    isConfigCurrent: () => core.runningConfig.state().refused === undefined,
    log: core.log,
    now: core.now,
    isTimeRight: core.isTimeRight,
  };
  return {
    workflowBundle,
    activities: { ...createTaskActivities({ ...others, tasks: deps }) },
    maxCachedWorkflows: cachedWorkflowsMax,
    workflowTaskPollerBehavior: taskPollers,
  };
}

function callbacksOptions(callbacks: FirstCallbackDeps): Omit<WorkerOptions, 'taskQueue'> {
  return {
    activities: { ...createCallbackActivities(callbacks) },
    maxConcurrentActivityTaskExecutions: callbackActivitiesMax,
  };
}
