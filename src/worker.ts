import { createActIds } from './access/act-ids.ts';
import { createAbandonCreation } from './tasks/abandon-creation.ts';
import { defined } from './domain/defined.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions, WorkflowBundleWithSourceMap } from '@temporalio/worker';
import {
  createCallbackActivities,
  createChannelActivities,
  createTaskActivities,
} from '../activities/index.ts';
import type { WorkerDeps } from '../activities/index.ts';
import type { ChannelActivityDeps, TaskActivityDeps, UpkeepStep } from '../activities/deps.ts';
import type { FirstCallbackDeps } from '../activities/first-callback.ts';
import { recordedPollers } from '../activities/recorded-pollers.ts';
import { tracedCopy, tracedPost } from '../activities/traced-deps.ts';
import { createStatusPollers } from '../activities/status-pollers.ts';
import { openNodeReports } from './core.ts';
import { webhookSecretsOf } from './access/webhook-secrets.ts';
import type { Core } from './core.ts';
import type { NodeReports } from './control/node-reports.ts';
import { logRejections } from './observability/process-ends.ts';
import { callbacksQueue, channelQueue, pollsQueue, tasksQueue } from './domain/queues.ts';
import { recordedChannels } from './flight/recorded-channels.ts';
import { createGuardedClient, scrub } from './http-client/index.ts';
import { presentTask } from './http/presenters/video-task.ts';
import { createHostPlaces } from './capacity/host-places.ts';
import { createPromptHosts } from './capacity/prompt-hosts.ts';
import { tidyKeySlots, tidySlots } from './capacity/slot-upkeep.ts';
import { createSubmitGate } from './capacity/submit-gate.ts';
import { createReleaseDeadLeases } from './images/leases/release-dead-leases.ts';
import { createRateLimiter } from './capacity/rate-limiter.ts';
import type { RateLimiter } from './capacity/rate-limiter.ts';
import { createStayPlaces } from './capacity/stay-places.ts';
import type { StayPlaces } from './capacity/stay-places.ts';
import { createStayWakes } from './capacity/stay-wakes.ts';
import type { StayWakes } from './capacity/stay-wakes.ts';
import { createSubmitLimiter } from './capacity/submit-limiter.ts';
import type { SubmitLimiter } from './capacity/submit-limiter.ts';
import { concernSignal } from '../workflows/messages.ts';
import { shareChannelPollers, taskPollers } from './temporal/task-pollers.ts';
import { countActivities, endRuns, isServing, runNew } from './temporal/worker-runs.ts';
import { tracedActivities } from './temporal/traced-activities.ts';
import { bundleWorkflows } from './temporal/workflow-bundle.ts';
import { connectWorker, dataConverter } from './temporal/connection.ts';
import { ensureReconcilerSchedule } from './temporal/reconciler-schedule.ts';
import { createRedelivery } from './temporal/redelivery.ts';
import { createWorkflowLookup } from './temporal/workflow-lookup.ts';
import { requireSearchAttributes } from './temporal/search-attributes.ts';

export interface RunningWorker {
  /** Accepts no new work, waits for submissions in flight, then resolves. */
  stop(): Promise<void>;
  /** Settles when the worker has ended, rejects if it failed. */
  readonly ended: Promise<void>;
}

/** Each cached workflow saves a replay and costs about a megabyte. */
const cachedWorkflowsMax = 500;
/** Of a channel's submissions. Activities wait for others most of their time. */
const channelActivitiesMax = 1000;
/** Of callbacks. A dead host occupies its places and its waiters of them, and all hosts of one account its part. */
const callbackActivitiesMax = 500;
const callbacksPerHostMax = 16;
const callbacksPerAccountMax = 100;
/** Of the callbacks that leave in a workflow task, of which a worker has 40 at a time. */
const promptCallbacksMax = 16;
const slowHostAvoidedMs = 60_000;
/** Beyond the longest submission: a submission in flight is never cut off. */
const shutdownMarginMs = 15_000;
/** Of what follows a submission: its polls stay while a render is about to end. */
const pollActivitiesMax = 3000;
/** Polls that stay occupy at most so many of a queue's slots. */
const stayingPollsMax = (queue: string): number => (isPollsQueue(queue) ? 2500 : 500);

/** Runs every queue: `tasks`, two per channel (submissions; what follows them), `callbacks`. */
export async function startWorker(core: Core): Promise<RunningWorker> {
  const [workflowBundle, connection] = await Promise.all([bundleWorkflows(), connectWorker(core.temporal)]);
  await requireSearchAttributes({ connection, namespace: core.temporal.namespace });
  const guarded = createGuardedClient({
    allowPrivateNetworks: core.environment.WEBHOOK_ALLOW_PRIVATE_NETWORKS,
  });
  const workers = new Map<string, Worker>();
  const runs: Promise<void>[] = [];
  const create = async (queue: string, options: Omit<WorkerOptions, 'taskQueue'>): Promise<void> => {
    const worker = await Worker.create({ ...commonOptions(core, connection), ...options, taskQueue: queue });
    workers.set(queue, worker);
  };
  const runCreated = (): void => void runs.push(...runNew(workers));
  const prefix = core.environment.TASK_QUEUE_PREFIX;
  const stays = createStayPlaces({ placesMax: stayingPollsMax, now: core.now });
  const stayWakes = openStayWakes(core, stays);
  const channels = channelDeps(core, stays);
  const activities = { ...createChannelActivities(channels) };
  const callbacks = callbackDeps(core, guarded);
  const pollersOf = shareChannelPollers();
  const createChannelWorkers = () => {
    const wanted = channelIds(core).flatMap((id) => queuesOf(core, id));
    const queues = wanted.filter((queue) => !workers.has(queue));
    const options = { activities, activityTaskPollerBehavior: pollersOf(queues.length) };
    return Promise.all(queues.map((queue) => create(queue, { ...options, ...slotsOf(queue) })));
  };
  await Promise.all([
    create(tasksQueue(prefix), tasksOptions(core, { channels, callbacks }, workflowBundle)),
    create(callbacksQueue(prefix), callbacksOptions(callbacks)),
    createChannelWorkers(),
    ensureReconcilerSchedule(core.client, prefix),
  ]);
  const reports = openReports(core, workers);
  // A reload may bring new channels; the queues of channels that went away are served until the process ends.
  core.runningConfig.onChange(async () => {
    await createChannelWorkers();
    runCreated();
    await reports.report();
  });
  await createChannelWorkers();
  // Not before: a start that fails, or that a signal ends, cuts off no submission.
  runCreated();
  stayWakes.start();
  await reports.start();
  const endRejections = logRejections(core.log);
  const ended = Promise.all(runs).then(() => undefined);
  return {
    ended,
    async stop() {
      const left = reports.leave();
      stayWakes.stop();
      stays.close();
      await endRuns(workers, runs, (err) => core.log.error({ err }, 'a worker did not end in order'));
      await left;
      // Each has limits of its own on the time to its answer, and to the record of it.
      await callbacks.promptHosts.idle();
      await Promise.all([connection.close(), guarded.close(), core.recorder.close(), reports.stop()]);
      // Last: what is in flight until here must not be cut off either.
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

const channelIds = (core: Core): readonly string[] => core.config().channels.map(({ id }) => id);

function openStayWakes({ stores, log }: Core, stays: StayPlaces): StayWakes {
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

function isPollsQueue(queue: string): boolean {
  return queue.endsWith('-polls');
}

function commonOptions(core: Core, connection: NativeConnection): Omit<WorkerOptions, 'taskQueue'> {
  const longestSubmitMs = Math.max(...core.config().channels.map(({ timeouts }) => timeouts.submit_ms));
  return {
    connection,
    namespace: core.temporal.namespace,
    dataConverter: dataConverter(core.temporal),
    shutdownGraceTime: longestSubmitMs,
    shutdownForceTime: longestSubmitMs + shutdownMarginMs,
    activityTaskPollerBehavior: taskPollers,
    // What a submission has learned must not wait for long; activities that stay send few anyway.
    maxHeartbeatThrottleInterval: '5s',
    // The default is a hash of the code, 85 bytes in every workflow task; deployments are not versioned by it.
    buildId: 'mediary',
    ...tracedActivities(core.tracing?.tasks, core.stores.tasks),
  };
}

function tasksOptions(
  core: Core,
  others: Pick<WorkerDeps, 'channels' | 'callbacks'>,
  workflowBundle: WorkflowBundleWithSourceMap,
): Omit<WorkerOptions, 'taskQueue'> {
  const { tasks, requests, keySlots } = core.stores;
  const redeliver = createRedelivery(core.client, core.environment.TASK_QUEUE_PREFIX);
  const deps: TaskActivityDeps = {
    ...core.stores,
    abandonCreation: createAbandonCreation({ ...core.stores, ledger: core.ledger }),
    owedCallback: async (task) => {
      if ((await requests.find(task))?.callbackUrl !== undefined) await redeliver(task);
    },
    ledger: core.ledger,
    channels: core.channels,
    slots: core.health.slots,
    upkeep: [
      { name: 'slots', run: () => tidySlots(core.health.slots, tasks) },
      { name: 'key_slots', run: () => tidyKeySlots(keySlots, tasks, core.now) },
      ...resultUpkeep(core),
      {
        name: 'leases',
        run: createReleaseDeadLeases({
          ...core,
          leases: core.stores.imageLeases,
        }),
      },
    ],
    metrics: core.metrics,
    workflows: createWorkflowLookup(core.client, core.environment.TASK_QUEUE_PREFIX, core.endStay),
    log: core.log,
    now: core.now,
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

function resultUpkeep({ results: { kept } }: Core): UpkeepStep[] {
  if (kept === undefined) return [];
  return [
    { name: 'copies', run: () => kept.copier.retryDue() },
    { name: 'retention', run: () => kept.copier.deleteExpired() },
  ];
}

function callbackDeps(core: Core, guarded: ReturnType<typeof createGuardedClient>): FirstCallbackDeps {
  const { tasks, requests } = core.stores;
  const places = createHostPlaces({
    requestsPerHostMax: callbacksPerHostMax,
    requestsPerAccountMax: callbacksPerAccountMax,
    waitingPerHostMax: callbacksPerHostMax,
    waitMs: 1_000,
    now: core.now,
    random: core.random,
  });
  return {
    tasks,
    requests,
    webhookSecrets: webhookSecretsOf(core),
    places,
    sleep: (ms) => sleep(ms, undefined, { ref: false }),
    promptHosts: createPromptHosts({
      places,
      callsMax: promptCallbacksMax,
      avoidMs: slowHostAvoidedMs,
      now: core.now,
    }),
    post: tracedPost((delivery) => guarded.deliver(delivery), core.tracing?.tasks),
    log: core.log,
    present: (task) => JSON.stringify(presentTask(task, core.results.mediaUrl)),
    now: core.now,
  };
}

function channelDeps(core: Core, stays: StayPlaces): ChannelActivityDeps {
  const { tasks, requests } = core.stores;
  const channels = recordedChannels(core.channels, core.recorder, core.now);
  const limiters = new Map<string, SubmitLimiter>();
  const limiter = (perSecond: number): RateLimiter =>
    createRateLimiter({ perSecond, now: core.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) });
  const publicAddress = defined({ publicUrl: core.environment.PUBLIC_URL });
  const pollers = createStatusPollers({ channels, limiter, now: core.now, ...publicAddress });
  return {
    tasks,
    requests,
    channels,
    gate: createSubmitGate(core.health),
    copyResults: tracedCopy(core.results.kept?.copier, core.tracing?.tasks),
    keepsResults: core.results.kept !== undefined,
    canOpen: (url) => core.results.canOpen(url),
    submitLimiter: ({ channel, credential }) =>
      getOrCreate(limiters, `${channel}/${credential}`, () =>
        createSubmitLimiter({
          perSecond: () => core.channels(channel)?.config.limits.submits_per_second ?? 1,
          now: core.now,
          random: core.random,
          sleep: (ms, signal) => sleep(ms, undefined, { signal }),
        }),
      ),
    signalConcern: (task, news) => core.client.workflow.getHandle(task).signal(concernSignal, news),
    renders: core.renders,
    stays,
    poller: recordedPollers(pollers, core.recorder),
    scrub,
    actorOf: createActIds(core.secrets.deriveKey('act-ids')).actorOf,
    auditLog: core.auditLog,
    log: core.log,
    now: core.now,
    random: core.random,
    ...publicAddress,
  };
}

function getOrCreate<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}
