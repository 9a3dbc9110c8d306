import { chmod, chown, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { createReconcileTasks } from '../../activities/reconcile.ts';
import { upkeepLoops, unlimited, type StepTime } from '../../src/base/walk.ts';
import { createChargeBook } from '../../src/capacity/charge-book.ts';
import { createRenderClock } from '../../src/capacity/render-clock.ts';
import { createTidyKeySlots, createTidySlots } from '../../src/capacity/slot-upkeep.ts';
import { createAbandonments } from '../../src/commands/abandonments.ts';
import { createDeleteAccounts } from '../../src/commands/delete-account.ts';
import { createReadTrends } from '../../src/observability/read-trends.ts';
import { createStorageQuota } from '../../src/commands/storage-quota.ts';
import { createImageLeases } from '../../src/images/leases/image-leases.ts';
import { createUnstoredImages } from '../../src/images/unstored-images.ts';
import { createPromisedBills } from '../../src/images/promised-bills.ts';
import { createReleaseDeadLeases } from '../../src/images/leases/release-dead-leases.ts';
import { createUploads } from '../../src/media/uploads.ts';
import { createAccountAlerts } from '../../src/notices/account-alerts.ts';
import { createNoticeWatch } from '../../src/notices/watch.ts';
import { createLogger } from '../../src/observability/log.ts';
import { inTemporaryDirectory } from '../../src/local/servers/program-files.ts';
import { openImageWorkspaces } from '../../src/images/workspace.ts';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { deleteExpiredFiles } from '../../src/results/expired-files.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { importsOf, readSources, type Sources } from '../support/source-rules.ts';
import { firstRecord } from '../support/task-records.ts';

/** In each upkeep loop, the first item always fails. The loop must still process the other two. */

const items = ['bad', 'one', 'two'];
const log = createLogger({ level: 'silent', format: 'json' });
const minuteMs = 60_000;

function track() {
  const reached: string[] = [];
  const touch = async (item: string): Promise<void> => {
    if (item === 'bad') throw new Error('this item is poisoned');
    reached.push(item);
  };
  return { reached, touch };
}

type Touch = ReturnType<typeof track>['touch'];

async function* each<Item>(list: readonly Item[] = []): AsyncGenerator<Item> {
  yield* list;
}

const nothing = async () => undefined;
const none = async () => [];
const onFailed = () => undefined;

/** Runs the reconciler twice. Between the runs, enough time passes for an unchanged task to be considered abandoned. */
async function reconcile(change: { tasks?: object; workflows?: object; [name: string]: unknown }) {
  let clock = 0;
  const run = createReconcileTasks({
    upkeep: [],
    upkeepFailures: { note: nothing },
    workers: async () => ({ unserved: nothing }),
    isConfigCurrent: () => false,
    log,
    now: () => clock + lateMs,
    ...change,
    tasks: { unfinished: each, owing: each, asking: each, ...change.tasks },
    workflows: { running: each, failing: each, ...change.workflows },
  } as never);
  for (const at of [0, 5 * minuteMs]) {
    clock = at;
    await new MockActivityEnvironment().run(run);
  }
}

function alertsWith(change: object) {
  return createAccountAlerts({
    store: {
      findMany: async (all: string[]) => all.map(alertOf),
      list: async () => items.map(alertOf),
      due: none,
    },
    events: { dueAccounts: none, add: nothing },
    balance: nothing,
    randomBytes,
    currency: () => 'USD',
    random: () => 0.5,
    log,
    now: Date.now,
    ...change,
  } as never);
}

const alertOf = (account: string) => ({ account, caps: { revision: 1, judged: 1, upTo: 0n } });

function copierWith(touch: Touch, change: object = {}) {
  const copies = items.map((task) => ({ task, state: 'stored', names: ['0.png'], tries: 1, dueAt: 0 }));
  return createResultCopier({
    storage: { remove: (path: string) => touch(path.split('/')[0] ?? '') },
    copies: {
      listDue: async (state: string) => (state === 'gave_up' ? [] : copies),
      listRetries: async () => copies,
      findMany: async () => copies,
      change: async () => true,
      remove: nothing,
      forget: async () => true,
    },
    tasks: { find: touch },
    channels: nothing,
    log,
    now: Date.now,
    ...change,
  } as never);
}

async function releaseLeases(change: { leases?: object; ledger?: object }, time: StepTime) {
  let clock = 0;
  const run = createReleaseDeadLeases({
    ledger: { openHoldsBetween: none, ...change.ledger },
    leases: {
      each: () => each(items.map(leaseOf)),
      declareDead: async () => true,
      remove: nothing,
      ...change.leases,
    },
    log,
    now: () => clock,
    pause: nothing,
  } as never);
  for (const at of [0, 5 * minuteMs]) {
    clock = at;
    await run(time);
  }
}

const leaseOf = (id: string) => ({ id, beat: 0, process: 'p', from: id });

/** Only the second and third directories can be deleted, because the first belongs to another user. */
async function besideFiles(touch: Touch, sweep: (parent: string) => Promise<unknown>, prefix: string) {
  const parent = await mkdtemp(join(tmpdir(), 'swept-'));
  const pathOf = (item: string) => join(parent, `${prefix}${item}`);
  for (const item of items) {
    await mkdir(pathOf(item));
    await writeFile(join(pathOf(item), 'file'), '');
    await utimes(pathOf(item), 0, 0);
  }
  await chmod(parent, 0o1777);
  await chmod(pathOf('bad'), 0o755);
  const user = process.geteuid?.();
  if (user === 0) for (const item of ['one', 'two']) await chown(pathOf(item), nobody, nobody);
  else await chmod(pathOf('bad'), 0o500);
  if (user === 0) process.seteuid?.(nobody);
  try {
    await sweep(parent);
  } finally {
    if (user === 0) process.seteuid?.(0);
  }
  await chmod(pathOf('bad'), 0o700);
  const left = await readdir(parent);
  for (const item of items) if (!left.includes(`${prefix}${item}`)) await touch(item);
  await rm(parent, { recursive: true });
}

const nobody = 65_534;

let lateMs = 0;
const now = () => Date.now() + lateMs;

const loops: Readonly<
  Record<(typeof upkeepLoops)[number], (touch: Touch, time: StepTime) => Promise<unknown>>
> = {
  'steps of the upkeep': (touch) =>
    reconcile({
      upkeep: items.map((item, n) => {
        return { name: ['slots', 'files', 'uploads'][n], run: () => touch(item).then(() => 1) };
      }),
    }),
  'unfinished tasks': (touch) =>
    reconcile({
      tasks: { unfinished: () => each(items.map((id) => firstRecord(id, { deadlineAt: 1e15 }))) },
      workflows: { find: (id: string) => touch(id).then(() => 'running') },
    }),
  'owed callbacks': (touch) =>
    reconcile({
      tasks: { owing: () => each(items.map((id) => firstRecord(id, { hasCallback: true }))) },
      workflows: { isRunning: async () => false },
      owedCallback: touch,
    }),
  'failing workflows': (touch) =>
    reconcile({ tasks: { find: touch }, workflows: { failing: () => each(items) } }),
  'concerns that passed': (touch) =>
    reconcile({ tasks: { asking: () => each(items.map((id) => ({ id }))), withdrawConcern: touch } }),
  'slots of ended tasks': (touch, time) =>
    createTidySlots(
      { holders: async () => items, release: touch, queues: () => [], serve: nothing },
      { tasks: { findMany: async () => items.map((id) => firstRecord(id, { status: 'failed' })) }, onFailed },
    )(time),
  'queues of slots': (touch, time) => {
    const queues = () => items.map((channel) => ({ channel, credential: 'a' }));
    const serve = ({ channel }: { readonly channel: string }) => touch(channel);
    return createTidySlots(
      { holders: none, release: nothing, queues, serve },
      { tasks: { findMany: none }, onFailed },
    )(time);
  },
  'slots of keys': (touch, time) => {
    const list = async () => items.map((key) => ({ key, tasks: [{ task: key, since: 0 }] }));
    const deps = { tasks: { findMany: none }, onFailed, now: Date.now };
    return createTidyKeySlots({ list, release: touch } as never, deps)(time);
  },
  'limits of accounts': (touch, { isOver }) =>
    alertsWith({ spendings: (id: string) => touch(id).then(none) }).repair(isOver),
  'noted accounts': (touch) => {
    const alerts = alertsWith({ spendings: (id: string) => touch(id).then(none), now });
    for (const account of items) alerts.note(account, { available: 1n, seq: 1n });
    return alerts.run().then(() => alerts.run());
  },
  'events of caps': (touch) =>
    alertsWith({
      events: { dueAccounts: async () => items, due: (id: string) => touch(id).then(none) },
    }).run(),
  'copies to retry': (touch, { isOver }) => copierWith(touch).retryDue(isOver),
  'copies to delete': (touch, { isOver }) => copierWith(touch).deleteExpired(isOver),
  'copies of removed tasks': (touch, { isOver }) => copierWith(touch).remove(items, isOver),
  'files to delete': (touch, { isOver }) =>
    deleteExpiredFiles(
      {
        store: {
          listDue: async () => items.map((id) => ({ id, name: 'x' })),
          remove: nothing,
          postponeRemoval: nothing,
        },
        storage: { remove: (path: string) => touch(path.split('/')[0] ?? '') },
        log,
        now: Date.now,
      } as never,
      isOver,
    ),
  'parts of files': async (touch, { isOver }) => {
    const directory = await mkdtemp(join(tmpdir(), 'parts-'));
    const parts = join(directory, '.parts');
    await mkdir(join(parts, 'bad'), { recursive: true });
    for (const name of ['one', 'two']) await writeFile(join(parts, name), '');
    for (const name of items) await utimes(join(parts, name), 0, 0);
    await createDirectoryStorage(directory).sweep?.(() => undefined, isOver);
    const left = await readdir(parts);
    for (const name of items) if (!left.includes(name)) await touch(name);
    await rm(directory, { recursive: true });
  },
  'uploads to delete': (touch, { isOver }) => {
    const due = items.map((id) => ({ id, file: id, channel: id, credential: 'a', tries: 0 }));
    const uploads = {
      listDue: async () => due,
      remove: ({ id }: { readonly id: string }) => touch(id),
      postpone: nothing,
    };
    return createUploads({ uploads, channels: () => undefined, log, now: Date.now } as never).removeDue(
      isOver,
    );
  },
  'dead leases': (touch, time) =>
    releaseLeases(
      { leases: { declareDead: ({ id }: { readonly id: string }) => touch(id).then(() => true) } },
      time,
    ),
  'holds of a dead process': (touch, time) =>
    releaseLeases(
      {
        leases: { each: () => each([leaseOf('lease')]) },
        ledger: {
          openHoldsBetween: async () => items.map((task) => ({ task, account: 'a' })),
          entriesOfTask: (task: string) => touch(task).then(none),
        },
      },
      time,
    ),
  'abandoned holds': async (touch) => {
    vi.useFakeTimers();
    const images: string[] = [];
    const leases = createImageLeases({
      leases: { insert: nothing, renew: async () => true, remove: nothing, paid: nothing },
      closeHold: (image: string) => touch(items[images.indexOf(image)] ?? ''),
      process: 'p',
      now,
      randomBytes,
      onError: () => undefined,
    } as never);
    for (const _ of items) {
      const image = leases.newImage();
      images.push(image);
      (await leases.watch(image)).abandon('account');
    }
    await vi.advanceTimersByTimeAsync(90_000);
    await leases.stop();
  },
  'abandoned creations': async (touch) => {
    vi.useFakeTimers();
    const abandonCreation = ({ tryId }: { readonly tryId: string }) => touch(tryId);
    const abandonments = createAbandonments({
      abandonCreation,
      onError: () => undefined,
      now,
    } as never);
    for (const tryId of items) abandonments.add({ tryId } as never);
    await vi.advanceTimersByTimeAsync(2_000);
    abandonments.stop();
  },
  'accounts to delete': (touch, time) =>
    createDeleteAccounts({
      accounts: { deleting: async () => items.map((id) => ({ id, closedAt: 0 })) },
      keys: { idsOf: (id: string) => touch(id).then(none) },
      tasks: { countOf: async () => ({ unfinished: 1 }) },
      ledger: { balance: async () => ({ held: 0n }) },
      log,
      now: Date.now,
    } as never)(time),
  'temporary directories': (touch) =>
    besideFiles(
      touch,
      async (parent) => (await openImageWorkspaces(Date.now, parent)).close(),
      'mediary-upload-',
    ),
  'downloads left behind': (touch) =>
    besideFiles(touch, (parent) => inTemporaryDirectory(parent, nothing), 'fetch-'),
  'stored bytes': (touch) => {
    const store = { add: touch, find: async () => new Map() } as never;
    const quota = createStorageQuota({ store, bytesMax: 1, onError: () => undefined, now: Date.now });
    for (const account of items) quota.note(account, 1, Date.now());
    return quota.flush();
  },
  'hours of trends': async (touch) => {
    const days = [...items];
    const flows = async () => {
      const day = days.shift();
      if (day !== undefined) await touch(day);
      return [];
    };
    const read = createReadTrends({
      tasks: { flows, countUnfinished: none },
      rollups: { list: none, put: nothing },
      ledgerFlows: none,
      now,
    } as never);
    await expect(read('week')).rejects.toThrow('poisoned');
  },
  'conditions of notices': (touch) => {
    const conditions = items.map((subject) => ({ kind: 'attention' as const, subject, count: 1, text: '' }));
    const find = (id: string) => touch(id.split('/')[1] ?? '').then(nothing);
    return createNoticeWatch({
      store: { list: none, find, write: async () => true },
      sources: { attention: async () => conditions },
      targets: () => [],
      duty: async () => true,
      log,
      now: Date.now,
    } as never).run();
  },
};

afterEach(() => {
  vi.useRealTimers();
  lateMs = 0;
});

it.each(upkeepLoops)('one bad item does not stop the others: %s', async (loop) => {
  const { reached, touch } = track();
  await loops[loop](touch, unlimited);
  expect([...new Set(reached)].toSorted()).toEqual(['one', 'two']);
});

const timedLoops = [
  'unfinished tasks',
  'owed callbacks',
  'failing workflows',
  'concerns that passed',
  'slots of ended tasks',
  'queues of slots',
  'slots of keys',
  'limits of accounts',
  'copies to retry',
  'copies to delete',
  'copies of removed tasks',
  'files to delete',
  'uploads to delete',
  'dead leases',
  'holds of a dead process',
  'accounts to delete',
] as const;

it.each(timedLoops)('no other item starts after the time of the step is over: %s', async (loop) => {
  let count = 0;
  const isOver = () => count > 0;
  await loops[loop](
    async () => {
      count += 1;
      lateMs += 10 * minuteMs;
    },
    { isOver, isHalfOver: isOver },
  );
  // The steps `reconcile` and `releaseLeases` run twice, and several items may be waiting for a slot, so allow more
  // than one item.
  expect(count).toBeLessThan(items.length);
});

it.each(['noted accounts', 'abandoned creations', 'abandoned holds'] as const)(
  'one item that waits for a server delays the others by one round: %s',
  async (loop) => {
    const order: string[] = [];
    await loops[loop](async (item) => {
      order.push(item);
      if (item !== 'bad') return;
      lateMs += minuteMs;
      throw new Error('the server did not answer');
    }, unlimited);
    expect(order.slice(0, 4)).toEqual(['bad', 'one', 'two', 'bad']);
  },
);

it('a notice that is never written does not block the others', async () => {
  const { reached, touch } = track();
  void loops['conditions of notices'](
    (item) => (item === 'bad' ? new Promise(() => undefined) : touch(item)),
    unlimited,
  );
  await expect.poll(() => reached).toEqual(['one', 'two']);
});

it.each(['charge book', 'render clock', 'promised bills', 'images not stored yet'])(
  'one item that is never written does not block the others: %s',
  async (of) => {
    const { reached, touch } = track();
    const add = (item: string) => (item === 'bad' ? new Promise<void>(() => undefined) : touch(item));
    if (of === 'promised bills') {
      const bills = createPromisedBills(log);
      for (const item of items) bills.promise({ task: item } as never, () => add(item).then(() => 'written'));
    }
    if (of === 'images not stored yet') {
      const images = createUnstoredImages(30);
      for (const item of items) void images.hold({ account: item, bytes: 10 }, () => add(item));
    }
    const deps = { now, random: () => 0.5, onError: () => undefined };
    if (of === 'charge book') {
      const book = createChargeBook({ ...deps, store: { add } } as never);
      for (const item of items) book.note(item, 1n);
      void book.flush();
    }
    if (of === 'render clock') {
      const store = { list: none, add: ({ channel }: { readonly channel: string }) => add(channel) };
      const clock = createRenderClock({ ...deps, store } as never);
      for (const channel of items) clock.learn({ channel, model: 'm', output: '' }, 1_000);
      void clock.stop();
    }
    await expect.poll(() => reached).toEqual(['one', 'two']);
  },
);

const root = fileURLToPath(new URL('../..', import.meta.url));
const background =
  /setInterval\(|createRounds\(|following\(|createSnapshot<|UpkeepStep|walk\(|\b(?:sleep|pause|readdir)\(/;
/** For each file, how many awaits its loops contain and why an error may end those loops. */
const others: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'src/base/walk.ts': [1, 'the loop that catches failures'],
  'src/capacity/circuit-book.ts': [4, 'the circuits of one request'],
  'src/capacity/circuit-wakes.ts': [1, 'wakes, which do not fail'],
  'src/capacity/slot-upkeep.ts': [1, 'the slots of one key'],
  'src/client/client.ts': [1, 'the polls of one task'],
  'src/commands/delete-account.ts': [3, 'the pages of one account'],
  'src/commands/repeats.ts': [1, 'skips the forgotten retries of one request'],
  'src/commands/wait-for-repeat.ts': [1, 'waits for one record'],
  'src/commands/task-retention.ts': [1, 'pages, each removed at once'],
  'src/compose/heads-place.ts': [1, 'the lines of one file'],
  'src/control/nodes.ts': [1, 'waits for one version'],
  'src/http-client/exchange.ts': [2, 'the pieces of one answer'],
  'src/images/result-form.ts': [2, 'the pieces of one image'],
  'src/images/settle-images.ts': [1, 'the tries of one charge'],
  'src/images/leases/release-dead-leases.ts': [2, 'reads of one list, and the pages of one lease'],
  'src/ledger/anchored-heads.ts': [1, 'pages of one list'],
  'src/ledger/appender.ts': [1, 'the queue of one account, whose failures are answers'],
  'src/ledger/outside-heads.ts': [4, 'the lines of one file'],
  'src/ledger/turns.ts': [1, 'waits for the turn of one account'],
  'src/ledger/verify-reading.ts': [2, 'pages of one list'],
  'src/local/data-dir.ts': [1, 'claims of one directory, which must all be read'],
  'src/local/servers/java-launcher.ts': [1, 'the sources of one program'],
  'src/local/servers/temporal-source.ts': [1, 'the ways to start one program'],
  'src/local/terminal-lines.ts': [1, 'the pieces of one file'],
  'src/media/uploads.ts': [1, 'waits for one upload'],
  'src/notices/cap-alerts.ts': [5, 'the caps of one account'],
  'src/notices/watch.ts': [2, 'turns, in which no target waits for another, and the writes of one notice'],
  'src/polling/status-poller.ts': [1, 'the requests of one channel, which are not awaited'],
  'src/results/directory-storage.ts': [1, 'the pieces of one file'],
  'src/results/expired-files.ts': [1, 'pages, whose files are walked'],
  'src/results/result-copier.ts': [2, 'the files of one task'],
  'src/store/mongo.ts': [1, 'the indexes of one collection'],
  'src/temporal/bundle-cache.ts': [1, 'the files of one bundle'],
  'activities/measure.ts': [1, 'the tries of one measurement'],
  'activities/poll.ts': [1, 'the looks at one job'],
  'activities/reconcile.ts': [3, 'the lists of workflows and of tasks'],
};

function reachedFrom(start: string, sources: Sources): ReadonlySet<string> {
  const imports = importsOf(sources).filter(({ isType }) => !isType);
  const reached = new Set([start]);
  for (const path of reached) for (const { from, to } of imports) if (from === path) reached.add(to);
  return reached;
}

function bareLoops(text: string): string[] {
  return [...text.matchAll(/^( *)(?:for (?:await )?\(|while \(|do (?=\{))[^\n]*?(?:;\n|\{\n[\s\S]*?^\1\})/gm)]
    .map(([loop]) => loop)
    .filter((loop) => /\bawait\b/.test(loop) && !/\btry \{|\.catch\(/.test(loop));
}

it.each([
  'for (const one of all) await run(one);\n',
  'for await (const one of all) {\n  run(one);\n}\n',
  'for (;;) {\n  await run();\n}\n',
  'for (let n = 0; ; ) {\n  await run();\n}\n',
  'while (!isOver()) {\n  await run();\n}\n',
  'do {\n  await run();\n} while (isMore);\n',
])('a bare loop is found: %s', (text) => {
  expect(bareLoops(text)).toHaveLength(1);
  expect(bareLoops(text.replace('run(', 'run().catch('))).toEqual([]);
});

it('no other loop of the upkeep stops at a failure', () => {
  const all = readSources(root, ['src', 'activities']);
  const parts = reachedFrom('src/compose/upkeep.ts', all);
  const sources = Object.entries(all)
    .filter(([path]) => !/^src\/(?:cli|pages|http|providers)\//.test(path))
    .filter(([path, text]) => background.test(text) || parts.has(path));
  const bare = sources.flatMap(([path, text]) => bareLoops(text).map(() => path));
  const counts = Object.fromEntries(
    [...new Set(bare)].map((path) => [path, bare.filter((one) => one === path).length]),
  );
  expect(counts).toEqual(Object.fromEntries(Object.entries(others).map(([path, [count]]) => [path, count])));
});
