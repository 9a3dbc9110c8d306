import { MongoServerError } from 'mongodb';
import { expect, it } from 'vitest';
import { createReadTrends } from '../../../src/observability/read-trends.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { readLedgerFlows } from '../../../src/ledger/flows.ts';
import { createRollupStore } from '../../../src/store/rollups.ts';
import { emptyFlow, latenessAt, type FlowsAsked } from '../../../src/reports/flow.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_trends');
const minute = 60_000;
const hour = 60 * minute;
/**
 * Just before noon, so that a span of one hour lies within a day. The year is in the future, so that MongoDB does not
 * expire the rollups.
 */
const noon = Date.parse('2031-03-02T11:59:00Z');

const trends = async (query: string) => (await world.admin('GET', `/trends?${query}`)).body;

async function someTasks() {
  const account = await world.newAccount();
  const create = async (at: number, model = 'clip') => {
    world.clock.stoppedAt = at;
    return String((await account.create({ model })).body.id);
  };
  const good = await create(noon - 2 * hour);
  await world.drive.accept(good);
  const items = [{ url: 'https://x.test/v.mp4' }];
  await world.drive.succeed(good, {
    kind: 'succeeded',
    items,
    facts: {},
    renderedAt: noon - 2 * hour - 4_000,
  });
  const bad = await create(noon - 31 * minute, 'plain');
  world.clock.stoppedAt = noon - 29 * minute;
  await world.drive.fail(bad, { code: 'provider_error', message: 'm', class: 'quota' });
  await create(noon - 28 * minute);
  world.clock.stoppedAt = noon;
}

const byStep = (data: readonly Record<string, any>[], stepped: string) =>
  Object.fromEntries(
    data
      .filter((row) => row[stepped] > 0)
      .map((row) => [new Date(row['at'] * 1000).toISOString().slice(11, 16), row[stepped]]),
  );

it('counts created, ended and unfinished tasks for the last hour and day', async () => {
  await someTasks();
  const day = await trends('span=day&by=model');
  expect([day.data.length, day.step_seconds, day.models]).toEqual([24, 3_600, ['clip', 'plain']]);
  expect(byStep(day.data, 'created')).toEqual({ '09:00': 1, '11:00': 2 });
  expect(byStep(day.data, 'succeeded')).toEqual({ '09:00': 1 });
  expect(day.groups[0].delivery).toEqual({ p50_seconds: 5, p95_seconds: 5 });
  expect(day.data.at(-1)).toMatchObject({ failures: [{ class: 'quota', count: 1 }], unfinished: 1 });
  expect(byStep(day.data, 'unfinished')).toEqual({ '11:00': 1 });
  expect(day.data.at(-1).held).toBe('1.500000');
  expect(day.groups).toMatchObject([
    { name: 'clip', created: 2, succeeded: 1, failures: [] },
    { name: 'plain', created: 1, succeeded: 0, failures: [{ class: 'quota', count: 1 }] },
  ]);
  expect(day.groups[1].failed.at(-1)).toBe(1);
  const hours = await trends('span=hour');
  expect([hours.data.length, hours.step_seconds]).toEqual([12, 300]);
  expect(byStep(hours.data, 'created')).toEqual({ '11:25': 1, '11:30': 1 });
  expect(byStep(hours.data, 'unfinished')).toEqual({
    '11:25': 1, '11:30': 1, '11:35': 1, '11:40': 1, '11:45': 1, '11:50': 1, '11:55': 1,
  }); // prettier-ignore
  const one = await trends('span=day&channel=one');
  expect(byStep(one.data, 'succeeded')).toEqual({ '09:00': 1 });
  expect(one.data.at(-1).unfinished).toBeNull();
  const { text } = await world.admin('GET', '/trends?span=day&format=csv&model=plain');
  expect(text).toBe(
    'at,channel,model,created,succeeded,failed,held,charged,refunded,cost\r\n' +
      '2031-03-02T11:00:00Z,,plain,1,0,1,1.000000,0.000000,0.000000,0.000000\r\n',
  );
});

it('reads past hours from rollups, renews those that may have changed, and agrees with the records', async () => {
  const reads: FlowsAsked[] = [];
  const rollups = createRollupStore(world.db);
  const node = () =>
    createReadTrends({
      tasks: {
        countUnfinished: () => world.stores.tasks.countUnfinished(),
        flows: (asked) => {
          reads.push(asked);
          return world.stores.tasks.flows(asked);
        },
      },
      rollups,
      ledgerFlows: (asked) => readLedgerFlows(ledgerCollection(world.db), asked),
      now: () => world.clock.stoppedAt ?? 0,
    });
  await world.db.collection('rollups').deleteMany({});
  const [one, other] = await Promise.all([node()('week'), node()('week')]);
  expect(other).toEqual(one);
  expect(await world.db.collection('rollups').countDocuments()).toBe(168);
  reads.length = 0;
  expect(await node()('week')).toEqual(one);
  expect(reads).toEqual([]);
  world.clock.stoppedAt = noon + minute;
  const later = await node()('day');
  expect(later.flows.find(({ at }) => at === noon - 59 * minute)).toEqual(
    one.flows.find(({ at }) => at === noon - 59 * minute),
  );
  const read = reads.map(({ from, before }) => [from, before]);
  expect(read).toEqual([[noon + minute - hour, noon + minute + hour]]);
  await world.db.collection<{ _id: string }>('rollups').deleteOne({ _id: '2031-03-02T09' });
  await rollups.put([
    {
      at: noon + minute - 5 * hour,
      readAt: noon + 9 * hour,
      flows: [emptyFlow({ at: noon + minute - 5 * hour, channel: 'ghost', model: 'x' })],
    },
  ]);
  const anew = await node()('day');
  expect(anew.flows.map(({ channel }) => channel)).not.toContain('ghost');
  expect(anew.flows.find(({ succeeded }) => succeeded > 0)?.at).toBe(Date.parse('2031-03-02T09:00:00Z'));
});

it('keeps each part that was read, and reads what takes too long in halves', async () => {
  const kept: number[] = [];
  const asked: number[] = [];
  let mostHours = 6;
  const read = createReadTrends({
    tasks: {
      countUnfinished: () => Promise.resolve([]),
      flows({ from, before }) {
        asked.push((before - from) / hour);
        if (before - from > mostHours * hour) throw new MongoServerError({ message: 'too long', code: 50 });
        return Promise.resolve([emptyFlow({ at: from, channel: 'one', model: 'clip' })]);
      },
    },
    rollups: {
      list: () => Promise.resolve([]),
      put: (all) => Promise.resolve(void kept.push(...all.map(({ at }) => at))),
    },
    ledgerFlows: ({ from }) =>
      from === Date.parse('2031-03-02T06:00:00Z') ? Promise.reject(new Error('away')) : Promise.resolve([]),
    now: () => noon,
  });
  // The span lasts from noon to noon, so it covers twelve hours of each of two days.
  await expect(read('day')).rejects.toThrow('away');
  expect(asked).toEqual([12, 6, 6, 12, 6, 6]);
  expect(kept).toHaveLength(18);
  mostHours = 0;
  await expect(read('day')).rejects.toThrow('too long');
  expect(asked.slice(6)).toEqual([12, 6, 3, 1, 2, 1, 1]);
});

it('is read only once at a time in a process, however long it takes', async () => {
  let reads = 0;
  let time = noon;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const read = createReadTrends({
    tasks: {
      countUnfinished: () => Promise.resolve([]),
      async flows() {
        reads += 1;
        await ended;
        return [];
      },
    },
    rollups: { list: () => Promise.resolve([]), put: () => Promise.resolve() },
    ledgerFlows: () => Promise.resolve([]),
    now: () => time,
  });
  const first = read('day');
  await expect.poll(() => reads).toBe(1);
  time += minute;
  const others = [read('day'), read('week')];
  await new Promise(setImmediate);
  expect(reads).toBe(1);
  end();
  expect((await Promise.all([first, ...others]))[1]).toBe(await first);
});

it('sums the charges of the ledger by hour', async () => {
  const day = Date.parse('2031-03-02T00:00:00Z');
  const flows = await readLedgerFlows(ledgerCollection(world.db), {
    from: day,
    before: day + 24 * hour,
    stepMs: hour,
  });
  const fromRecords = await world.stores.tasks.flows({ from: day, before: day + 24 * hour, stepMs: hour });
  expect(flows.map(({ at }) => at % hour)).toEqual(flows.map(() => 0));
  expect(fromRecords.reduce((sum, { created }) => sum + created, 0)).toBe(3);
});

it.each([
  [[0, 0, 0, 0, 0, 0, 0, 0], undefined],
  [[9, 0, 1, 0, 0, 0, 0, 0], 5],
  [[1, 0, 0, 0, 0, 0, 0, 9], null],
  [[1, 1], 2],
])('95 percent of %j were delivered within %s seconds', (late, expected) =>
  expect(latenessAt({ late }, 0.95)).toBe(expected),
);

it('answers 400 for an unknown span', async () => {
  const { status, body } = await world.admin('GET', '/trends?span=year');
  expect([status, body.error.param]).toEqual([400, 'span']);
});
