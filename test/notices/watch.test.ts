import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDuty } from '../../src/capacity/duty.ts';
import { createNoticeWatch, type NoticeWatchDeps } from '../../src/notices/watch.ts';
import { createDuties } from '../../src/store/duties.ts';
import { createNoticeStore, type NoticeStore } from '../../src/store/notices.ts';
import { openDatabase } from '../capacity/support.ts';

/**
 * The targets of notices respond late. In the meantime, no other process may take over, and a stop may wait only for
 * the message in flight.
 */

const silenceMs = 60_000;
let database: Awaited<ReturnType<typeof openDatabase>>;
let clock = 0;

beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const target = (id: string) => ({ id, url: 'http://127.0.0.1', format: 'json' }) as const;

function openProcess(send: NoticeWatchDeps['send'], name: string, change: Partial<NoticeStore> = {}) {
  const { db } = database;
  const now = () => clock;
  return createNoticeWatch({
    store: { ...createNoticeStore(db), ...change },
    sources: {
      attention: async () =>
        Array.from({ length: 10 }, (_, n) => ({ kind: 'attention', subject: `${n}`, count: 1, text: '.' })),
    },
    targets: () => [target(`${name}-fast`), target(`${name}-slow`)],
    send,
    duty: createDuty({ name, duties: createDuties(db), silenceMs, now }),
    log: { warn: () => undefined, error: () => undefined } as unknown as NoticeWatchDeps['log'],
    now,
  });
}

it('a process that sends for minutes keeps the duty, so each target gets each notice once', async () => {
  const got: string[] = [];
  const other = openProcess(async ({ id }, notice) => void got.push(`${id} ${notice.id}`), 'kept');
  let looks = 0;
  const slow = openProcess(async ({ id }, notice) => {
    got.push(`${id} ${notice.id}`);
    if (id !== 'kept-slow') return undefined;
    clock += 9_000;
    looks += 1;
    await other.run();
    return undefined;
  }, 'kept');
  await slow.run();
  expect(looks * 9_000).toBeGreaterThan(silenceMs);
  expect(got).toHaveLength(20);
  expect(new Set(got).size).toBe(20);
});

it('a process that lost the duty while it was paused finishes its current message, and sends no more', async () => {
  let [sent, takenOver] = [0, 0];
  const other = openProcess(async () => void (takenOver += 1), 'lost');
  const standing = openProcess(async () => {
    sent += 1;
    if (sent > 1) return undefined;
    await other.run();
    clock += silenceMs;
    await other.run();
    return undefined;
  }, 'lost');
  await standing.run();
  expect(takenOver).toBeGreaterThan(0);
  expect(sent).toBe(2);
});

it('the result of a verification is written, although a target is recorded at the same time', async () => {
  const store = createNoticeStore(database.db);
  const violation = 'ledger_violation/ledger';
  let noted = 0;
  const watch = openProcess(async () => undefined, 'verified', {
    async find(id) {
      const kept = await store.find(id);
      if (id === violation && kept !== undefined && noted === 0) {
        noted += 1;
        await store.recordNotified(id, 'pager', kept.notice.revision);
      }
      return kept;
    },
  });
  await watch.noteVerification(1);
  expect((await store.find(violation))?.notice.state).toBe('open');
  await watch.noteVerification(0);
  expect(noted).toBe(1);
  expect((await store.find(violation))?.notice).toMatchObject({ state: 'over', notified: { pager: 1 } });
});

it('a stop waits only for the message in flight', async () => {
  const answers: (() => void)[] = [];
  const watch = openProcess(
    () => new Promise((resolve) => answers.push(() => resolve(undefined))),
    'stopped',
  );
  const tick = watch.run();
  await expect.poll(() => answers.length).toBe(2);
  let stopped = false;
  const stop = watch.stop().then(() => (stopped = true));
  expect(stopped).toBe(false);
  for (const answer of answers) answer();
  await Promise.all([tick, stop]);
  expect(answers).toHaveLength(2);
});
