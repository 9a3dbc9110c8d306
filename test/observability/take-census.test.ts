import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Task } from '../../src/task/record.ts';
import { ensureLedgerIndexes, ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { readLedgerTotals } from '../../src/ledger/totals.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { connectMongo, type Mongo } from '../../src/store/mongo.ts';
import { createStores, ensureStoreIndexes } from '../../src/store/stores.ts';
import { takeCensus } from '../../src/observability/take-census.ts';
import { firstRecord } from '../support/task-records.ts';
import { databaseUri } from '../support/run-servers.ts';
import { testLedgerKey, testSealing } from '../support/sealing.ts';
import { workerReport } from '../support/worker-report.ts';

const at = 1_000_000;
const channel = (id: string, concurrent_tasks?: number) => ({
  id,
  enabled: true,
  models: { m: {} },
  limits: { concurrent_tasks },
  credentials: [{ id: 'a' }, { id: 'b' }],
});
const config = { currency: 'USD', channels: [channel('one', 5), channel('two')] };
const ended = { state: { at: 'ended' }, status: 'succeeded', hasCallback: true } as const;
const candidate = { channel: 'one', credential: 'a' };

let mongo: Mongo;
let stores: ReturnType<typeof createStores>;
beforeAll(async () => {
  mongo = await connectMongo(databaseUri('take_census'));
  await mongo.db.dropDatabase();
  stores = createStores(mongo.db, () => at, testSealing);
  await Promise.all([ensureStoreIndexes(stores), ensureLedgerIndexes(mongo.db)]);
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo.close();
});

let tasks = 0;
const insert = (change: Partial<Task>) => stores.tasks.insert(firstRecord(`t${(tasks += 1)}`, change));

async function fill(): Promise<void> {
  const attempt = { n: 1, ...candidate, marker: 'm', state: 'accepted', at: 1, owner: 'o' } as const;
  await insert({ stateSince: at - 90_000, wait: { cause: 'slot', since: at } });
  await insert({ stateSince: at - 10_000, wait: { cause: 'slot', since: at } });
  await insert({
    state: { at: 'pausing', round: 2, ms: 5_000, until: at, full: [] },
    stateSince: at - 5_000,
  });
  await insert({
    state: { at: 'asking', n: 1, code: 'timeout' },
    status: 'submitted',
    attempts: [{ ...attempt, state: 'lost' } as unknown as Task['attempts'][number]],
    stateSince: at - 60_000,
  });
  await insert({
    ...ended,
    completedAt: at - 30_000,
    attempts: [
      { ...attempt, channel: 'two', operation: { id: 'job' } } as unknown as Task['attempts'][number],
    ],
  });
  const failing = { state: 'pending', target: 'x', round: 'own', begun: 1 } as const;
  await insert({
    ...ended,
    completedAt: at - 300_000,
    callback: { ...failing, isFailing: true, attempts: [{ at: 1, durationMs: 1, status: 500 }] },
  });
  await insert({ ...ended, completedAt: 1 });
  await stores.tasks.beginCallback({ task: `t${tasks}`, round: 'own', target: 'x' });
  await stores.tasks.abandonCallback(`t${tasks}`, 'own');
  await stores.nodes.report(workerReport(['one', 'two']));
  await stores.slots.reserve('one/a', 5, { task: 'x', account: 'x', until: at + 1 });
  await stores.slots.reserve('one/b', 5, { task: 'y', account: 'x', until: at + 1 });
  const circuit = { sign: 'account', code: 'no_money', coolDownMs: 1, until: at + 1, at } as const;
  await stores.circuits.write('two/a', { ...circuit, state: 'open' });
  await stores.circuits.write('two/a/m', { ...circuit, state: 'open' });
  // The cool-down of `two/b` is over, so the next task will be its probe. The credential `two/gone` was removed, so its
  // circuit delays no task.
  await stores.circuits.write('two/b', { ...circuit, state: 'open', until: at });
  await stores.circuits.write('two/gone', { ...circuit, state: 'open' });
  await stores.circuits.write('one/a', { ...circuit, state: 'closed' });
  const copy = { names: [], tries: 1, dueAt: at };
  await stores.resultCopies.write({ ...copy, task: 'c1', state: 'retry' });
  await stores.resultCopies.write({ ...copy, task: 'c2', state: 'gave_up' });
  await stores.resultCopies.write({ ...copy, task: 'c3', state: 'stored' });
  const ledger = createLedger({ collection: ledgerCollection(mongo.db), key: testLedgerKey, now: () => at });
  for (const account of ['x', 'y']) {
    await ledger.credit({ account, amount: 2_500_000n, reference: account });
    await ledger.hold({
      account,
      task: `of-${account}`,
      by: { key: 'key_1', model: 'video-1' },
      amount: 1_000_000n,
      basis: '{}',
      overdraftLimit: 0n,
    });
  }
  const overdrawn = {
    account: 'z',
    task: 'of-z',
    by: { key: 'key_1', model: 'video-1' },
    amount: 500_000n,
    basis: '{}',
    overdraftLimit: 1_000_000n,
  };
  await ledger.hold(overdrawn);
}

it('counts the whole system as operators see it', async () => {
  await fill();
  const census = await takeCensus({
    log: { warn: () => undefined },
    stores,
    ledgerTotals: () => readLedgerTotals(ledgerCollection(mongo.db)),
    config: () => config,
    now: () => at,
  });
  const metrics = createMetrics({ configVersion: () => 'abc' });
  metrics.showCensus(census);
  const lines = (await metrics.render()).split('\n');
  const shown = lines.filter((line) => /^mediary_(?!config|http|ledger)/.test(line) && !line.endsWith(' 0'));
  expect(shown.toSorted()).toEqual(
    [
      'mediary_census_time_seconds 1000',
      'mediary_tasks{state="queued",channel="one"} 2',
      'mediary_tasks{state="pausing",channel="one"} 1',
      'mediary_tasks{state="asking",channel="one"} 1',
      'mediary_tasks_oldest_seconds{state="queued"} 90',
      'mediary_tasks_oldest_seconds{state="pausing"} 5',
      'mediary_tasks_oldest_seconds{state="asking"} 60',
      'mediary_submissions_waiting{channel="one",reason="slot"} 2',
      'mediary_tasks_attention{reason="submit_ambiguous"} 1',
      'mediary_money_held{currency="USD"} 2.5',
      'mediary_money_available{currency="USD"} 2.5',
      'mediary_accounts_overdrawn 1',
      'mediary_slots_in_use{channel="one"} 2',
      'mediary_slots_limit{channel="one"} 10',
      'mediary_channel_health{channel="one",state="serving"} 1',
      'mediary_channel_health{channel="two",state="ill"} 1',
      'mediary_callbacks{state="due"} 1',
      'mediary_callbacks{state="failing"} 1',
      'mediary_callbacks{state="abandoned"} 1',
      'mediary_callbacks_oldest_seconds{state="due"} 30',
      'mediary_callbacks_oldest_seconds{state="failing"} 300',
      'mediary_result_copies{state="retry"} 1',
      'mediary_result_copies{state="gave_up"} 1',
    ].toSorted(),
  );
});

it('counts nothing in an empty system', async () => {
  const empty = await connectMongo(databaseUri('take_census_empty'));
  const census = await takeCensus({
    log: { warn: () => undefined },
    stores: createStores(empty.db, () => at, testSealing),
    ledgerTotals: () => readLedgerTotals(ledgerCollection(empty.db)),
    config: () => config,
    now: () => at,
  });
  await empty.close();
  expect(census.tasks).toEqual([]);
  expect(census.money).toEqual({ available: 0n, held: 0n, overdrawn: 0 });
  expect(census.callbacks.map(({ count }) => count)).toEqual([0, 0, 0]);
});
