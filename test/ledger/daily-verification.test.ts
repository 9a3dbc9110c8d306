import { expect, it } from 'vitest';
import { createDuty } from '../../src/capacity/duty.ts';
import { dayMs, hourMs } from '../../src/base/times.ts';
import { createDailyVerification } from '../../src/ledger/daily-verification.ts';
import { createPace } from '../../src/ledger/verify-reading.ts';
import { createDuties } from '../../src/store/duties.ts';
import { createVerificationStore } from '../../src/store/verifications.ts';
import { startGateway, testYaml } from '../support/gateway.ts';
import { useLedgerWorld } from './support.ts';

const world = useLedgerWorld('daily_verification');
const minute = 60_000;
const noon = Date.parse('2026-11-25T12:00:00Z');
let names = 0;

function openProcesses() {
  const name = `verify-${(names += 1)}`;
  const store = createVerificationStore(world.db);
  const seen = { begun: [] as string[], aborted: [] as string[], errors: 0 };
  const state = { now: noon, hour: 3 as number | undefined, fails: false };
  const now = () => state.now;
  const release: (() => void)[] = [];
  const process = (id: string) =>
    createDailyVerification({
      duty: createDuty({ name, duties: createDuties(world.db), silenceMs: 5 * minute, now }),
      last: () => store.last(),
      async verify(signal) {
        seen.begun.push(id);
        if (state.fails) throw new Error('MongoDB does not answer');
        const startedAt = now();
        await new Promise<void>((resolve, reject) => {
          release.push(resolve);
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }).catch((error: unknown) => {
          seen.aborted.push(id);
          throw error;
        });
        await store.record({ startedAt, endedAt: now(), violations: 0 });
      },
      hour: () => state.hour,
      onError: () => void (seen.errors += 1),
      now,
    });
  const finish = async (one: ReturnType<typeof process>) => {
    release.splice(0).forEach((resolve) => resolve());
    await one.idle();
  };
  return { process, finish, seen, state, store };
}

it('once a day, after the configured hour, one of all processes verifies, however long it takes', async () => {
  const { process, finish, seen, state } = openProcesses();
  const [one, two] = [process('one'), process('two')];
  const turns = async () => {
    await one.turn();
    await two.turn();
  };
  await turns();
  // There has been no verification yet, but `verify_hour` has not come since the processes started.
  expect(seen.begun).toEqual([]);
  state.now = noon + 15 * hourMs - 1;
  await turns();
  expect(seen.begun).toEqual([]);
  state.now += 1;
  await turns();
  expect(seen.begun).toEqual(['one']);
  for (let n = 0; n < 20; n += 1) {
    state.now += minute;
    await turns();
  }
  expect(seen.begun).toEqual(['one']);
  await finish(one);
  state.now += 20 * hourMs;
  await turns();
  expect(seen.begun).toEqual(['one']);
  state.now = noon + 15 * hourMs + dayMs;
  await turns();
  expect(seen.begun).toEqual(['one', 'one']);
  await finish(one);
});

it('another process takes over if one is gone; a process that was only paused finishes its work', async () => {
  const { process, finish, seen, state, store } = openProcesses();
  await store.record({ startedAt: noon - dayMs, endedAt: noon - dayMs, violations: 0 });
  const [gone, other] = [process('gone'), process('other')];
  await gone.turn();
  await other.turn();
  expect(seen.begun).toEqual(['gone']);
  state.now += 5 * minute;
  await other.turn();
  expect(seen.begun).toEqual(['gone', 'other']);
  await gone.turn();
  await gone.idle();
  expect(seen.aborted).toEqual(['gone']);
  await finish(other);
  expect(await store.last()).toMatchObject({ startedAt: noon + 5 * minute });
  expect(seen.errors).toBe(0);
});

it('a failed verification is repeated an hour later, a stop ends a running one, and `off` starts none', async () => {
  const { process, seen, state, store } = openProcesses();
  await store.record({ startedAt: noon - dayMs, endedAt: noon - dayMs, violations: 0 });
  const [one, two] = [process('one'), process('two')];
  state.hour = undefined;
  await one.turn();
  expect(seen.begun).toEqual([]);
  Object.assign(state, { hour: 3, fails: true });
  await one.turn();
  await one.idle();
  for (let minutes = 1; minutes < 60; minutes += 1) {
    state.now += minute;
    await one.turn();
    await two.turn();
  }
  state.now += minute - 1;
  await one.turn();
  expect([seen.begun.length, seen.errors]).toEqual([1, 1]);
  Object.assign(state, { now: state.now + 1, fails: false });
  await one.turn();
  await one.stop();
  expect([seen.begun.length, seen.aborted, seen.errors]).toEqual([2, ['one'], 1]);
});

it('reads no faster than configured, and can be stopped while it waits', async () => {
  const aborting = new AbortController();
  const pace = createPace(1000, aborting.signal);
  const begun = performance.now();
  await Promise.all([pace(50), pace(50), pace(100)]);
  expect(performance.now() - begun).toBeGreaterThan(190);
  const waiting = pace(1_000_000);
  aborting.abort();
  await expect(waiting).rejects.toThrow('aborted');
});

it('reports what it found in a metric and a notice', async () => {
  const yaml = `${testYaml}ledger: { verify_hour: 0, verify_documents_per_second: 100000 }\n`;
  // No worker is needed: it would become responsible only after its first minute.
  const gateway = await startGateway({ yaml, worker: false });
  try {
    const account = await gateway.account();
    const { openDailyVerification } = await import('../../src/compose/verification.ts');
    const daily = openDailyVerification(gateway.core);
    const verified = async () => {
      gateway.clock.aheadMs += dayMs;
      await daily.turn();
      await daily.idle();
      return gateway.core.stores.verifications.last();
    };
    expect(await verified()).toMatchObject({ violations: 0 });
    await gateway.core.mongo.db
      .collection<{ _id: string }>('ledger')
      .updateOne({ _id: `${account.id}/1` }, { $set: { note: 'changed by hand' } });
    const { notices } = gateway.core;
    const { noteVerification } = notices;
    let found = 0;
    Object.assign(notices, {
      noteVerification: async (count: number) => {
        found = count;
        throw new Error('MongoDB does not answer');
      },
    });
    expect(await verified()).toMatchObject({ violations: 0 });
    expect(found).toBeGreaterThan(0);
    Object.assign(notices, { noteVerification });
    // The notice did not reach an operator, so the ledger is verified again in an hour.
    gateway.clock.aheadMs += hourMs - dayMs;
    expect(await verified()).toMatchObject({ violations: found });
    const { data } = (await gateway.admin('GET', '/notices')).body;
    expect(data).toMatchObject([{ kind: 'ledger_violation' }]);
  } finally {
    await gateway.stop();
  }
});
