import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { ChannelActivities, SubmitInput } from '../../activities/types.ts';
import { createChannelActivities } from '../../activities/index.ts';
import { loadGatewayConfig } from '../../src/config/gateway-file.ts';
import type { GatewayConfig } from '../../src/config/gateway-file.ts';
import { createUpstreamClient } from '../../src/http-client/index.ts';
import { startSimulator } from '../../src/local/simulator/simulator.ts';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';
import { createLogger } from '../../src/observability/log.ts';
import { providers } from '../../src/providers/index.ts';
import { createChannels } from '../../src/routing/channels.ts';
import { createAttemptStore } from '../../src/store/attempts.ts';
import { createRequestStore } from '../../src/store/requests.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { testRequest } from '../routing/support.ts';
import { testYaml } from '../support/gateway.ts';

/** The activities of a channel's queue on a real MongoDB and the simulator, without Temporal and without a worker. */
export interface ActivityWorld {
  readonly database: Awaited<ReturnType<typeof openDatabase>>;
  readonly simulator: Awaited<ReturnType<typeof startSimulator>>;
  readonly attempts: ChannelActivityDeps['attempts'];
  readonly tasks: ChannelActivityDeps['tasks'];
  /** The details of every heartbeat of every run. */
  readonly heartbeats: readonly unknown[];
  /** The running configuration; tests change it. */
  config: GatewayConfig;
  /** As a worker process of its own would have them. */
  worker(overrides?: Partial<ChannelActivityDeps>): TestWorker;
  /** A task with its request and projection; its first submission. */
  newTask(prompt: string, overrides?: Partial<SubmitInput>): Promise<SubmitInput>;
  close(): Promise<void>;
}

/** Each call is one attempt of the activity, as Temporal would run it. */
export type TestWorker = {
  readonly [Name in keyof ChannelActivities]: (
    input: Parameters<ChannelActivities[Name]>[0],
    info?: Info,
  ) => ReturnType<ChannelActivities[Name]>;
};

type Info = ConstructorParameters<typeof MockActivityEnvironment>[0];

interface Call<Input, Result> {
  readonly activity: (input: Input) => Promise<Result>;
  readonly input: Input;
  readonly info: Info | undefined;
}

function runActivity<Input, Result>(
  { activity, input, info = {} }: Call<Input, Result>,
  heartbeats: unknown[],
): Promise<Result> {
  const now = Date.now();
  const times = { scheduledTimestampMs: now, currentAttemptScheduledTimestampMs: now };
  const environment = new MockActivityEnvironment({ ...times, ...info });
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  return environment.run(activity, input);
}

export async function openActivityWorld(yaml = testYaml): Promise<ActivityWorld> {
  const [database, simulator] = await Promise.all([
    openDatabase(),
    startSimulator({ host: '127.0.0.1', port: 0, apiKeys: ['simulated'], renderSeconds: 0.2 }),
  ]);
  const attempts = createAttemptStore(database.db, Date.now);
  const tasks = createTaskStore(database.db, Date.now);
  const requests = createRequestStore(database.db);
  await attempts.ensureIndexes();
  const client = createUpstreamClient({ allowPrivateNetworks: ['127.0.0.0/8'] });
  const heartbeats: unknown[] = [];
  const world: ActivityWorld = {
    database,
    simulator,
    heartbeats,
    attempts,
    tasks,
    config: readYaml(yaml, simulator.url),
    worker: (overrides = {}) =>
      testWorker(
        createChannelActivities({
          tasks,
          requests,
          attempts: createAttemptStore(database.db, Date.now),
          channels: createChannels({
            current: () => world.config,
            providers,
            request: client,
            links: { check: () => undefined, onWithheld: () => undefined },
          }),
          gate: {
            enter: async () => undefined,
            report: async () => undefined,
            anyHasRoom: async () => false,
            leave: async () => undefined,
          },
          copyResults: async (_task, items) => items,
          submitLimiter: () => ({ enter: async () => undefined, giveBack: () => undefined }),
          signalConcern: async () => undefined,
          renders: { times: () => undefined, learn: () => undefined },
          stays: createStayPlaces({ placesMax: () => 10, now: Date.now }),
          poller: () => ({
            lists: () => false,
            status: () => Promise.reject(new Error('no poller in this test')),
          }),
          scrub: (text) => text,
          log: createLogger({ level: 'silent', format: 'json' }),
          now: Date.now,
          random: Math.random,
          ...overrides,
        }),
        heartbeats,
      ),
    async newTask(prompt, overrides = {}) {
      const task = `task_${randomBytes(12).toString('hex')}`;
      const now = Date.now();
      const deadlineAt = now + 3_600_000;
      await Promise.all([
        requests.insert({
          task,
          account: 'a',
          request: { ...testRequest, prompt },
          callbackToken: 'c',
          createdAt: now,
          warnings: [],
          plan: '{}',
          by: 'test',
        }),
        tasks.insert(
          {
            id: task,
            account: 'a',
            key: 'k',
            kind: 'video',
            model: 'seedance',
            createdAt: now,
            deadlineAt,
            hold: 1n,
          },
          1n,
        ),
      ]);
      const candidate = { channel: 'ark', credential: 'a' };
      return {
        task,
        account: 'a',
        kind: 'video',
        n: 1,
        model: 'seedance',
        candidate,
        candidates: [candidate],
        deadlineAt,
        version: String(now * 1000),
        persistMs: 0,
        ...overrides,
      };
    },
    async close() {
      await client.close();
      await simulator.close();
      await database.drop();
    },
  };
  return world;
}

function testWorker(activities: ChannelActivities, heartbeats: unknown[]): TestWorker {
  const run = <Input, Result>(call: Call<Input, Result>) => runActivity(call, heartbeats);
  return {
    submit: (input, info) => run({ activity: (given) => activities.submit(given), input, info }),
    findLostJob: (input, info) => run({ activity: (given) => activities.findLostJob(given), input, info }),
    poll: (input, info) => run({ activity: (given) => activities.poll(given), input, info }),
    cancelUpstream: (input, info) =>
      run({ activity: (given) => activities.cancelUpstream(given), input, info }),
    adoptJob: (input, info) => run({ activity: (given) => activities.adoptJob(given), input, info }),
    completeTask: (input, info) => run({ activity: (given) => activities.completeTask(given), input, info }),
    undoAdoption: (input, info) => run({ activity: (given) => activities.undoAdoption(given), input, info }),
  };
}

function readYaml(yaml: string, simulatorUrl: string): GatewayConfig {
  const directory = mkdtempSync(join(tmpdir(), 'mediary-activities-'));
  const path = join(directory, 'gateway.yaml');
  writeFileSync(path, yaml);
  try {
    return loadGatewayConfig(
      path,
      { SIMULATOR_URL: simulatorUrl },
      { providerNames: Object.keys(providers) },
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}
