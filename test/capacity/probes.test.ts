import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCircuits, type TakenProbes, type UpstreamFailure } from '../../src/capacity/circuits.ts';
import { createImageGate } from '../../src/capacity/image-gate.ts';
import { createSubmitGate } from '../../src/capacity/submit-gate.ts';
import type { Send } from '../../src/capacity/through-circuits.ts';
import { circuitRules } from '../../src/health/circuit-rules.ts';
import { createChannelHealthStore } from '../../src/store/channel-health.ts';
import { linesWith, readSources } from '../support/source-rules.ts';
import { openDatabase } from './support.ts';

const failure = (code: string, status?: number): UpstreamFailure => {
  return { outcome: 'ambiguous', status, code, retryAfterMs: undefined };
};
const broken = failure('http_500', 500);

/** Ways for a submission to end without revealing anything about the upstream's health. */
const exits: Readonly<Record<string, Send<unknown>>> = {
  'its files cannot be uploaded': async () => 'waits',
  'it waits for a token': () => Promise.reject(new Error('later')),
  'its adapter fails': async (report) => report(failure('adapter_failed')),
  'this process does not reach the upstream': async (report) => report(failure('timeout')),
};

let database: Awaited<ReturnType<typeof openDatabase>>;
let clock = 1_000_000;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const stored = async (circuit: string) =>
  (await createChannelHealthStore(database.db, () => clock).list()).find(({ id }) => id === circuit);

async function openCircuit() {
  const now = () => clock;
  const onError = () => undefined;
  const place = { channel: 'c', credential: `a${(count += 1)}`, model: 'm' };
  const request = () => ({ ...place, account: 'account', task: `task_${(count += 1)}` });
  const openProcess = async () => {
    const store = createChannelHealthStore(database.db, now);
    const circuits = createCircuits({ store, now, onChange: () => undefined, onError });
    await circuits.refresh();
    const slots = { isLimited: () => false, anyHasRoom: async () => false } as never;
    const [tasks, images] = [
      createSubmitGate({ circuits, slots }),
      createImageGate({ circuits, slots, onError }),
    ];
    const gates = {
      task: (send: Send<unknown>) => {
        const { channel, credential, ...asked } = request();
        const candidate = { channel, credential };
        const terms = { hasWaited: false, deadlineAt: 0, createdAt: 0, wasLost: false, submitMs: 60_000 };
        return tasks.pass({ ...asked, ...terms, candidate, candidates: [candidate] }, send);
      },
      image: (send: Send<unknown>) =>
        images.pass({ ...request(), callMs: 60_000, origin: 'https://c.example', calls: 1 }, send),
    };
    return { circuits, gates };
  };
  const { circuits } = await openProcess();
  for (let n = 0; n < circuitRules.failure.tasks; n += 1) await circuits.report(request(), broken);
  clock += circuitRules.failure.coolDownMs;
  return { openProcess, request, id: `c/${place.credential}/m` };
}

describe.each(['task', 'image'] as const)('the gate of a %s', (kind) => {
  it.each(Object.entries(exits))('%s', async (_, exit) => {
    const { openProcess } = await openCircuit();
    const [one, other] = [await openProcess(), await openProcess()];
    const sent: string[] = [];
    await one.gates[kind](async (report) => {
      expect(await other.gates[kind](async () => 'sent')).toHaveProperty('refused');
      sent.push('probe');
      return exit(report);
    }).catch(() => undefined);
    expect(sent).toEqual(['probe']);
    await expect.poll(() => other.gates[kind](async () => 'sent')).toEqual({ sent: 'sent' });
  });

  it('an outcome that reveals something ends the probe as before', async () => {
    const { openProcess, id } = await openCircuit();
    const { gates, circuits } = await openProcess();
    await gates[kind](async (report) => report(broken));
    // This process learns the outcome before the store does, so wait for the store, which grants the next probe.
    await expect.poll(async () => (await stored(id))?.until).toBeGreaterThan(clock);
    expect(await gates[kind](async () => 'sent')).toMatchObject({ refused: {} });
    clock += 2 * circuitRules.failure.coolDownMs;
    await gates[kind](async (report) => report(undefined));
    await expect.poll(async () => (await stored(id))?.state).toBe('closed');
    expect(circuits.isOpen(id)).toBe(false);
    expect(await gates[kind](async () => 'sent')).toEqual({ sent: 'sent' });
  });
});

it('a probe that only this process knows is released if the shared circuit refuses it', async () => {
  const { openProcess, request } = await openCircuit();
  const { gates, circuits } = await openProcess();
  const other = await openProcess();
  for (let n = 0; n < circuitRules.unreachable.tasks; n += 1)
    await circuits.report(request(), failure('timeout'));
  expect(circuits.unreached()).toHaveLength(1);
  clock += circuitRules.unreachable.coolDownMs;
  await other.gates.task(async () => {
    expect(await gates.task(async () => 'sent')).toMatchObject({ refused: { isTried: true } });
  });
  await expect.poll(() => gates.task(async () => 'sent')).toEqual({ sent: 'sent' });
});

it('releasing the probe of one circuit does not release the next probe of the same task', async () => {
  const [first, second] = [await openCircuit(), await openCircuit()];
  const { circuits } = await first.openProcess();
  const [task, other] = [first.request(), { ...second.request(), task: 'other' }];
  const [ofFirst, ofSecond]: TakenProbes[] = [[], []];
  await circuits.enter(task, 60_000, ofFirst ?? []);
  await circuits.enter({ ...second.request(), task: task.task }, 60_000, ofSecond ?? []);
  await circuits.leave(ofFirst ?? []);
  expect(await circuits.enter(other, 60_000, [])).toMatchObject({ open: true, isTried: true });
  await circuits.leave(ofSecond ?? []);
  expect(await circuits.enter(other, 60_000, [])).toMatchObject({ open: false });
});

it('no other code enters a circuit', () => {
  const sources = readSources(fileURLToPath(new URL('../..', import.meta.url)), ['src', 'activities']);
  expect(
    linesWith(sources, /circuits\.(?:enter|report|leave)\(/, ['src/capacity/through-circuits.ts']),
  ).toEqual([]);
});
