import { afterEach, beforeEach, expect, it } from 'vitest';
import { dayMs, utcDay } from '../../src/base/times.ts';
import { caller, persevere, type Answer, type TestAccount } from '../support/client.ts';
import { startGateway, videoBody, type TestGateway } from '../support/gateway.ts';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import { gate } from '../support/race.ts';
import { expectSoundLedger, keptHolds } from '../support/sound-ledger.ts';
import { startStoppingApi } from '../support/start-stopping-api.ts';

let gateway: TestGateway;

let worker: RunningWorker | undefined;

beforeEach(async () => {
  gateway = await startGateway({ worker: false });
});
afterEach(async () => {
  await worker?.stop();
  await gateway.stop();
});

const capForTen = '7.623';
const waveSize = 40;

function nextMidnight(): number {
  const now = Date.now() + gateway.clock.aheadMs;
  return now - (now % dayMs) + dayMs;
}

async function createAcrossMidnight(account: TestAccount, body: object) {
  const midnight = nextMidnight();
  gateway.clock.aheadMs = midnight - 10 * 60_000 - Date.now();
  const api = await startStoppingApi(gateway.environment, { aheadMs: gateway.clock.aheadMs });
  const other = caller(api.url, account.key);
  let lost = 0;
  let isPast = false;
  let answered = 0;
  const halfAnswered = gate();

  async function create(n: number): Promise<Answer> {
    const headers = { 'idempotency-key': `midnight-${n}` };
    const call = n % 2 === 0 ? account.call : other;
    const options = { body: { ...videoBody, ...body }, headers };
    try {
      const answer = await persevere(() => call('POST', '/v1/videos/generations', options));
      // The other process's clock has not reached midnight yet. Once it has responded to a create in the second wave,
      // it dies at the next create.
      if (call === other && isPast && n >= waveSize) api.child.kill('SIGUSR2');
      return answer;
    } catch {
      lost += 1;
      return persevere(() => account.call('POST', '/v1/videos/generations', options));
    } finally {
      answered += 1;
      if (answered === waveSize / 2) halfAnswered.resolve();
    }
  }
  const wave = (from: number) => Array.from({ length: waveSize }, (_, n) => create(from + n));

  const before = wave(0);
  await halfAnswered.promise;
  gateway.clock.aheadMs += 20 * 60_000;
  isPast = true;
  const answers = await Promise.all([...before, ...wave(waveSize)]);
  // On a busy machine, the process may handle every create before the signal arrives, so send one more.
  await expect.poll(() => api.lines).toContain('armed');
  answers.push(await create(2 * waveSize + 1));
  await api.closed;
  expect(api.child.signalCode).toBe('SIGKILL');
  expect(lost).toBeGreaterThan(0);
  return { answers, days: [utcDay(midnight - 1), utcDay(midnight)] as const };
}

interface CappedCase {
  readonly of: string;
  readonly body: object;
  readonly scope: string;
  readonly cap: (account: TestAccount) => Promise<Answer>;
}

const cases: CappedCase[] = [
  {
    of: 'a key',
    body: {},
    scope: 'key',
    cap: ({ keyId }) => gateway.admin('POST', `/keys/${keyId}/caps`, { day: capForTen, reason: 'a test' }),
  },
  {
    of: 'an end user whom nobody has named',
    body: { metadata: { safety_identifier: 'user-1' } },
    scope: 'end_user',
    cap: ({ id }) =>
      gateway.admin('POST', `/accounts/${id}/end-user-caps`, { day: capForTen, reason: 'a test' }),
  },
];

it.each(cases)('a day cap of $of for 10 is exact on each side of midnight', async ({ body, scope, cap }) => {
  const account = await gateway.account({ credit: '1000' });
  expect((await cap(account)).status).toBe(200);
  const { answers, days } = await createAcrossMidnight(account, body);

  const created = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ body: { error } }) => error?.code === 'spend_cap_exceeded');
  expect([created.length, refused.length]).toEqual([20, answers.length - 20]);
  expect(refused.every(({ body: { error } }) => error.cap.scope === scope)).toBe(true);
  worker = await startWorker(gateway.core);
  for (const { body: task } of created)
    expect(await account.finished(task.id)).toMatchObject({ status: 'succeeded' });

  const entries = await gateway.core.ledger.entries(account.id, { limit: 1_000 });
  const holds = keptHolds(entries);
  expect(new Set(holds.map(({ task }) => task))).toEqual(new Set(created.map(({ body: { id } }) => id)));
  expect(days.map((day) => holds.filter((hold) => hold.day === day).length)).toEqual([10, 10]);
  expect(holds).toHaveLength(20);
  const closes = entries.filter(({ kind }) => kind === 'settle');
  expect(days.map((day) => closes.filter((close) => close.day === day).length)).toEqual([10, 10]);
  expect(await account.balance()).toMatchObject({ available: '984.754000', held: '0.000000' });
  await expectSoundLedger(gateway.core);
});
