import { describe, expect, it } from 'vitest';
import { createSubmitLimiter } from '../../src/capacity/submit-limiter.ts';
import type { SubmitLimiter, SubmitTurn } from '../../src/capacity/submit-limiter.ts';

type Arrival = Pick<SubmitTurn, 'id' | 'account'> & Partial<Omit<SubmitTurn, 'isBack'>>;

function world(perSecond: number, processes = 1) {
  let clock = 0;
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const limiters: SubmitLimiter[] = Array.from({ length: processes }, () =>
    createSubmitLimiter({
      perSecond: () => perSecond / processes,
      monotonic: () => clock,
      random,
      // Waits inside the activity last at most a second, so the simulated clock does not advance for them.
      sleep: async (ms) => {
        expect(ms).toBeLessThanOrEqual(1000);
      },
    }),
  );
  const agenda: (SubmitTurn & { at: number })[] = [];
  const sentAt = new Map<string, number>();
  let looks = 0;
  return {
    sentAt,
    looks: () => looks,
    arrive: (task: Arrival, at: number) => void agenda.push({ ...turn(task, at), isBack: false, at }),
    cancel(task: string) {
      const index = agenda.findIndex(({ id }) => id === task);
      if (index >= 0) agenda.splice(index, 1);
    },
    async run(untilMs: number) {
      for (;;) {
        agenda.sort((a, b) => a.at - b.at);
        const next = agenda[0];
        if (next === undefined || next.at > untilMs) return;
        agenda.shift();
        clock = Math.max(clock, next.at);
        looks += 1;
        const limiter = limiters[Math.floor(random() * processes)];
        const delay = await limiter?.enter(next, new AbortController().signal);
        if (delay === undefined) sentAt.set(next.id, clock);
        else agenda.push({ ...next, at: clock + delay.ms + 1000 * random(), isBack: true });
      }
    },
  };
}

const deadlineMs = 3_600_000;

function turn(task: Arrival, at = 0): SubmitTurn {
  return { model: 'm', wasLost: false, deadlineAt: at + deadlineMs, createdAt: at, isBack: true, ...task };
}

const times = (sent: ReadonlyMap<string, number>): number[] => [...sent.values()].sort((a, b) => a - b);

describe('the queue for the submissions of a credential', () => {
  it.each([
    [1000, 1],
    [1000, 2],
    [1000, 3],
  ])('submits %s tasks over %s processes at 3 a second, without starving any', async (tasks, processes) => {
    const rate = 3;
    const line = world(rate, processes);
    for (let n = 0; n < tasks; n += 1) line.arrive({ id: `t${n}`, account: 'a' }, 0);
    await line.run(tasks * 1000);
    expect(line.sentAt.size).toBe(tasks);
    const last = times(line.sentAt).at(-1) ?? 0;
    expect(last).toBeGreaterThan((tasks / rate) * 1000 * 0.98);
    expect(last).toBeLessThan((tasks / rate) * 1000 * 1.5);
    // Each check costs the server two writes, so a task that has a long wait ahead checks only every five minutes.
    expect(line.looks()).toBeLessThan(tasks * 12);
  });

  it('never lets more through in a second than the limit plus a burst of one second', async () => {
    const line = world(3);
    for (let n = 0; n < 300; n += 1) line.arrive({ id: `t${n}`, account: 'a' }, 0);
    await line.run(1_000_000);
    const sent = times(line.sentAt);
    for (let n = 0; n + 7 < sent.length; n += 1)
      expect((sent[n + 7] ?? 0) - (sent[n] ?? 0)).toBeGreaterThan(400);
    expect(line.sentAt.size).toBe(300);
  });

  it('keeps its rate when most waiting tasks are cancelled', async () => {
    const line = world(3);
    for (let n = 0; n < 1000; n += 1) line.arrive({ id: `t${n}`, account: 'a' }, 0);
    await line.run(10_000);
    for (let n = 0; n < 900; n += 1) line.cancel(`t${n}`);
    for (let n = 0; n < 100; n += 1) line.arrive({ id: `new${n}`, account: 'a' }, 20_000);
    await line.run(600_000);
    expect([...line.sentAt.keys()].filter((task) => task.startsWith('new'))).toHaveLength(100);
  });

  it('alternates between a small account and the burst of a large one', async () => {
    const line = world(3);
    for (let n = 0; n < 1000; n += 1) line.arrive({ id: `large${n}`, account: 'large' }, 0);
    for (let n = 0; n < 5; n += 1) line.arrive({ id: `small${n}`, account: 'small' }, 5000);
    await line.run(1_000_000);
    for (let n = 0; n < 5; n += 1) expect(line.sentAt.get(`small${n}`)).toBeLessThan(60_000);
  });

  it.each([1, 2])('%s processes: more urgent tasks go first even if they come later', async (processes) => {
    const line = world(3, processes);
    for (let n = 0; n < 300; n += 1) line.arrive({ id: `far${n}`, account: 'a' }, 0);
    for (let n = 0; n < 50; n += 1) line.arrive({ id: `soon${n}`, account: 'a', deadlineAt: 600_000 }, 5000);
    await line.run(1_000_000);
    expect(line.sentAt.size).toBe(350);
    const soon = [...line.sentAt].filter(([id]) => id.startsWith('soon')).map(([, at]) => at);
    // At 3 per second, the 50 urgent tasks take 17 s. The other 300 take 100 s.
    expect(Math.max(...soon)).toBeLessThan(5000 + processes * 20_000);
  });

  it('tasks that are woken faster than they can be sent are sent in the order in which they were woken', async () => {
    const line = world(3);
    for (let n = 0; n < 300; n += 1)
      line.arrive({ id: `t${n}`, account: 'a', deadlineAt: deadlineMs + n }, n * 10);
    await line.run(1_000_000);
    const places = [...line.sentAt.keys()].map((id, place) => Math.abs(place - Number(id.slice(1))));
    expect(places).toHaveLength(300);
    expect(Math.max(...places)).toBeLessThan(10);
  });

  it('models of an account take turns, and a lost task goes last', async () => {
    const line = world(3);
    for (let n = 0; n < 200; n += 1) line.arrive({ id: `many${n}`, account: 'a' }, 0);
    line.arrive({ id: 'lost', account: 'a', model: 'lost', wasLost: true, deadlineAt: 1 }, 0);
    for (let n = 0; n < 5; n += 1) line.arrive({ id: `few${n}`, account: 'a', model: 'few' }, 5000);
    await line.run(1_000_000);
    for (let n = 0; n < 5; n += 1) expect(line.sentAt.get(`few${n}`)).toBeLessThan(15_000);
    expect([...line.sentAt.keys()].indexOf('lost')).toBeGreaterThan(185);
  });

  it('takes nothing from others when a wait is aborted or a token returned', async () => {
    let clock = 0;
    const limiter = createSubmitLimiter({
      perSecond: () => 1,
      monotonic: () => clock,
      random: () => 0.5,
      sleep: (ms, signal) =>
        signal.aborted ? Promise.reject(new Error('aborted')) : Promise.resolve(void ms),
    });
    const enter = (task: string, signal = new AbortController().signal) =>
      limiter.enter(turn({ id: task, account: 'a' }), signal);
    expect(await enter('first')).toBeUndefined();
    await expect(enter('aborted', AbortSignal.abort())).rejects.toThrow('aborted');
    clock = 1000;
    expect(await enter('second')).toBeUndefined();
    limiter.giveBack();
    expect(await enter('third')).toBeUndefined();
    expect(await enter('fourth')).toBeUndefined();
    expect(await enter('fifth')).toEqual({ ms: 2000, ahead: 0 });
  });

  it('adapts to a rate that the configuration changes', async () => {
    let rate = 1;
    const limiter = createSubmitLimiter({
      perSecond: () => rate,
      monotonic: () => 10_000,
      random: () => 0.5,
      sleep: async () => undefined,
    });
    const enter = (n: number) =>
      limiter.enter(turn({ id: `t${n}`, account: 'a' }), new AbortController().signal);
    rate = 100;
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => enter(n)));
    expect(answers.every((answer) => answer === undefined)).toBe(true);
  });
});
