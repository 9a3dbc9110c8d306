import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createActIds } from '../../src/access/act-ids.ts';
import { createAuditStore, type AuditStore } from '../../src/store/audit.ts';
import { createAuditLog } from '../../src/commands/audit-log.ts';
import { createActOnTask } from '../../activities/act.ts';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { SubmitRefusal, SubmitRequest } from '../../src/capacity/submit-gate.ts';
import { createFindLostJob } from '../../activities/find-lost-job.ts';
import { createChannelActivities } from '../../activities/index.ts';
import { createStopJob } from '../../activities/stop-job.ts';
import type { ChannelActivities, SubmitInput, TaskActivities, TaskView } from '../../activities/types.ts';
import { parseGatewayConfig, type GatewayConfig } from '../../src/config/gateway-file.ts';
import type { RouteCandidate } from '../../src/task/candidates.ts';
import type { Task } from '../../src/task/record.ts';
import { createUpstreamClient } from '../../src/http-client/upstream-client.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';
import { createUnstoredImages } from '../../src/images/unstored-images.ts';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';
import { createLogger } from '../../src/observability/log.ts';
import { providers } from '../../src/providers/index.ts';
import { createChannels } from '../../src/routing/channels.ts';
import { createRequestStore } from '../../src/store/requests.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { testRequest } from '../routing/support.ts';
import { testYaml } from '../support/gateway.ts';
import { testSealing } from '../support/sealing.ts';

/**
 * Runs the activities that call upstreams against a real MongoDB and the simulator, without Temporal. Each `worker()`
 * represents another process with empty caches.
 */
export interface ActivityWorld {
  readonly database: Awaited<ReturnType<typeof openDatabase>>;
  readonly simulator: Awaited<ReturnType<typeof startSimulator>>;
  readonly tasks: ChannelActivityDeps['tasks'];
  readonly audit: AuditStore;
  readonly heartbeats: readonly unknown[];
  readonly logged: readonly string[];
  config: GatewayConfig;
  worker(overrides?: Partial<ChannelActivityDeps>): TestWorker;
  store(): ChannelActivityDeps['tasks'];
  newTask(prompt: string, change?: NewTask): Promise<SubmitInput>;
  record(input: Pick<SubmitInput, 'task'>): Promise<Task>;
  close(): Promise<void>;
}

export interface NewTask extends Partial<
  Pick<Task, 'deadlineAt' | 'hold' | 'inputSeconds' | 'inputNeededBy'>
> {
  readonly candidates?: readonly RouteCandidate[];
  readonly fallback?: Task['plan']['fallback'];
  readonly expectedSeconds?: number;
}

type Info = ConstructorParameters<typeof MockActivityEnvironment>[0];

export type TestWorker = {
  readonly [Name in keyof ChannelActivities]: (
    input: Parameters<ChannelActivities[Name]>[0],
    info?: Info,
  ) => Promise<TaskView>;
} & {
  readonly findLostJob: (input: Pick<SubmitInput, 'task'>) => Promise<TaskView>;
  readonly stopJob: (input: Pick<SubmitInput, 'task'>) => Promise<TaskView>;
  readonly actOnTask: TaskActivities['actOnTask'];
};

export const again = { attempt: 2, scheduledTimestampMs: 1 };

type Gate = ChannelActivityDeps['gate'];

export function gateOf(refuse: (request: SubmitRequest) => Promise<SubmitRefusal | undefined>): Gate {
  return {
    async pass(request, send) {
      const refused = await refuse(request);
      return refused === undefined ? { sent: await send(() => undefined) } : { refused };
    },
    anyHasRoom: async () => false,
    leave: async () => undefined,
  };
}

export const openGate: Gate = gateOf(async () => undefined);

interface Run<Result> {
  readonly activity: () => Promise<Result>;
  readonly info?: Info | undefined;
}

function runActivity<Result>({ activity, info = {} }: Run<Result>, heartbeats: unknown[]): Promise<Result> {
  const now = Date.now();
  const times = { scheduledTimestampMs: now, currentAttemptScheduledTimestampMs: now };
  const environment = new MockActivityEnvironment({ ...times, ...info });
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  return environment.run(activity);
}

export async function openActivityWorld(yaml = testYaml): Promise<ActivityWorld> {
  const [database, simulator] = await Promise.all([
    openDatabase(),
    startSimulator({ host: '127.0.0.1', port: 0, apiKeys: ['simulated'], renderSeconds: 0.2 }),
  ]);
  const tasks = createTaskStore(database.db, Date.now, testSealing);
  const audit = createAuditStore(database.db);
  const requests = createRequestStore(database.db, Date.now, testSealing);
  await tasks.ensureIndexes();
  const client = createUpstreamClient({ networks: ['127.0.0.0/8'] });
  const heartbeats: unknown[] = [];
  const logged: string[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void logged.push(line) },
  });
  const world: ActivityWorld = {
    database,
    simulator,
    heartbeats,
    logged,
    tasks,
    audit,
    config: readYaml(yaml, simulator.url),
    store: () => createTaskStore(database.db, Date.now, testSealing),
    worker(overrides = {}) {
      const openedAt = Date.now();
      return testWorker(
        {
          tasks: world.store(),
          requests,
          channels: createChannels({
            current: () => world.config,
            providers,
            requestOf: () => client,
            links: { check: () => undefined, onWithheld: () => undefined },
          }),
          gate: openGate,
          slots: { keepUntil: async () => undefined },
          keySlots: { keepUntil: async () => undefined },
          currency: () => world.config.currency,
          deliver: async (_task, items) => ({ items }),
          measure: () => Promise.resolve(undefined),
          measureVideos: () => Promise.resolve([]),
          shapeOf: () => undefined,
          registerFiles: (request) => Promise.resolve(request),
          partialImages: { write: async () => undefined },
          unstoredImages: createUnstoredImages(1_000),
          renderImages: () => Promise.reject(new Error('no images in this test')),
          storageRefusal: async () => undefined,
          canOpen: async () => undefined,
          submitLimiter: () => ({
            enter: async () => undefined,
            giveBack: () => undefined,
          }),
          signals: { concern: async () => undefined, unserved: async () => undefined },
          auditLog: createAuditLog({ audit, log, now: Date.now, randomBytes }),
          actorOf: createActIds(Buffer.alloc(32)).actorOf,
          cancelRequest: async () => undefined,
          renders: { times: () => undefined, learn: () => undefined },
          // By default, attempts do not wait for their job to finish.
          stays: createStayPlaces({ placesMax: () => 0, monotonic: Date.now }),
          poller: () => ({
            lists: () => false,
            callsBack: () => false,
            status: () => Promise.reject(new Error('no poller in this test')),
          }),
          log,
          // The clock stands still, because a pause of the machine would look like a stalled worker to the code under
          // test.
          now: () => openedAt,
          random: Math.random,
          monotonic: () => performance.now(),
          ...overrides,
        },
        heartbeats,
      );
    },
    async newTask(prompt, { candidates = [ark], fallback, expectedSeconds = 1, ...change } = {}) {
      const task = `task_${randomBytes(12).toString('hex')}`;
      const now = Date.now();
      await Promise.all([
        requests.insert({
          task,
          account: 'a',
          request: { ...testRequest, prompt },
          callbackToken: 'c',
          deadlineAt: now + 3_600_000,
          warnings: [],
          dropped: [],
          by: 'test',
        }),
        tasks.insert({
          id: task,
          account: 'a',
          key: 'k',
          kind: 'video',
          model: 'seedance',
          plan: fallback === undefined ? { candidates } : { candidates, fallback },
          createdAt: now,
          deadlineAt: now + 3_600_000,
          output: '',
          hold: 1n,
          hasCallback: false,
          rev: 0,
          state: { at: 'queued', round: 1, left: candidates, full: [] },
          stateSince: now,
          status: 'pending',
          attempts: [],
          updatedAt: now,
          traceId: '',
          ...change,
        }),
      ]);
      tasks.forget(task);
      return { task, candidate: candidates[0] ?? ark, expectedSeconds };
    },
    async record({ task }) {
      const found = await tasks.find(task);
      if (found === undefined) throw new Error('the task has no record');
      return found;
    },
    async close() {
      await client.close();
      await simulator.close();
      await database.drop();
    },
  };
  return world;
}

const ark = { channel: 'ark', credential: 'a' };

function testWorker(deps: ChannelActivityDeps, heartbeats: unknown[]): TestWorker {
  const channel = createChannelActivities(deps);
  const [findLostJob, stopJob, actOnTask] = [
    createFindLostJob(deps),
    createStopJob(deps),
    createActOnTask(deps),
  ];
  return {
    submit: (input, info) => runActivity({ activity: () => channel.submit(input), info }, heartbeats),
    poll: (input, info) => runActivity({ activity: () => channel.poll(input), info }, heartbeats),
    findLostJob: ({ task }) => runActivity({ activity: () => findLostJob(task) }, heartbeats),
    stopJob: ({ task }) => runActivity({ activity: () => stopJob(task) }, heartbeats),
    actOnTask: (request) => runActivity({ activity: () => actOnTask(request) }, heartbeats),
  };
}

function readYaml(yaml: string, simulatorUrl: string): GatewayConfig {
  const environment = { SIMULATOR_URL: simulatorUrl };
  return parseGatewayConfig(yaml, 'test', { environment, providerNames: Object.keys(providers) });
}
