import { expect, it } from 'vitest';
import { createCircuits, type CircuitRequest, type UpstreamFailure } from '../../src/capacity/circuits.ts';
import { createOwnHealth } from '../../src/capacity/own-health.ts';

/**
 * Two processes share a credential, and one account's submissions fail for a while. The clock is simulated, so the
 * machine's speed does not matter.
 */

const tasks = 500;
const everyMs = 50;
const sickAtOnce = 20;
const sickEveryMs = 5_000;
const answerMs = 300;
const submitMs = 30_000;
const readEveryMs = 2_000;
const goalMs = 5_000;
const place = { channel: 'shared', credential: 'a' };

interface Submission {
  readonly request: CircuitRequest;
  readonly createdAt: number;
  readonly refusals: number;
  readonly tries: number;
}

interface Step {
  readonly at: number;
  run(): Promise<void>;
}

function world() {
  let clock = 0;
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const agenda: Step[] = [];
  const store = createOwnHealth(() => clock);
  let openings = 0;
  const processes = [1, 2].map(() =>
    createCircuits({
      store,
      now: () => clock,
      onChange: (_id, { state }) => void (openings += state === 'open' ? 1 : 0),
      onError: () => expect.unreachable(),
    }),
  );
  const delays = new Map<string, number>();
  const after = (ms: number, run: () => Promise<void>) => void agenda.push({ at: clock + ms, run });

  async function submit(submission: Submission): Promise<void> {
    const { request, createdAt, refusals, tries } = submission;
    const circuits = processes[Math.floor(random() * processes.length)];
    const decision = await circuits?.enter(request, submitMs, []);
    if (decision?.open === true) {
      const waitMs = (decision.retryAfterMs ?? 1_000) * (1 + 0.2 * random());
      return after(waitMs, () => submit({ ...submission, tries: tries + 1 }));
    }
    after(answerMs, async () => {
      const failure = refusals > 0 ? refusal : undefined;
      await circuits?.report(request, failure);
      if (failure === undefined) return void delays.set(request.task, clock - answerMs - createdAt);
      const next = { ...submission, refusals: refusals - 1, tries: tries + 1 };
      after(1_000 * 2 ** Math.min(tries, 6), () => submit(next));
    });
  }

  return {
    delays,
    openings: () => openings,
    create: (request: Omit<CircuitRequest, 'channel' | 'credential'>, at: number, refusals = 0) =>
      after(at, () => submit({ request: { ...place, ...request }, createdAt: at, refusals, tries: 0 })),
    run: async (untilMs: number) => {
      for (let at = 0; at < untilMs; at += readEveryMs)
        after(at, async () => void (await Promise.all(processes.map((one) => one.refresh()))));
      for (;;) {
        agenda.sort((a, b) => a.at - b.at);
        const step = agenda.shift();
        if (step === undefined || step.at > untilMs) return;
        clock = step.at;
        await step.run();
      }
    },
  };
}

const refusal: UpstreamFailure = {
  outcome: 'ambiguous',
  status: 503,
  code: 'http_503',
  retryAfterMs: undefined,
};

const models = ['a', 'b', 'c'];

it.each([
  ['model', (n: number) => ({ account: `account-${n % 4}`, model: 'sick' })],
  ['pair of models', (n: number) => ({ account: `account-${n % 4}`, model: `sick-${n % 2}` })],
  ['account', () => ({ account: 'sick', model: 'a' })],
] as const)(
  'no healthy task waits long beside a sick %s whose submissions fail and recover',
  async (_, sick) => {
    const { create, run, delays, openings } = world();
    for (let n = 0; n < tasks; n += 1)
      create({ task: `well-${n}`, account: `account-${n % 4}`, model: models[n % 3] ?? '' }, n * everyMs);
    for (let at = 0; at < tasks * everyMs; at += sickEveryMs)
      for (let n = 0; n < sickAtOnce; n += 1)
        create({ task: `sick-${at}-${n}`, ...sick(n) }, at, 1 + (n % 5));
    await run(tasks * everyMs + 60_000);
    expect(openings()).toBeGreaterThan(1);
    const waits = [...delays].filter(([task]) => task.startsWith('well')).map(([, ms]) => ms);
    expect(waits).toHaveLength(tasks);
    expect(Math.max(...waits)).toBeLessThanOrEqual(goalMs);
  },
);
