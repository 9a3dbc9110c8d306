import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../src/ledger/ledger-errors.ts';
import { toEntry, type LedgerEntry } from '../../src/ledger/entry.ts';
import type { CloseResult, HoldResult, Ledger, RefundResult } from '../../src/ledger/ledger.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { faulty, heldText, settledText, useLedgerWorld, type WriteFault } from './support.ts';
import { testEndUsers, testLedgerKey } from '../support/sealing.ts';

const world = useLedgerWorld('test_ledger_properties');
const processCount = 3;
const overdraftLimit = 50n;

let faults: WriteFault[] = [];
let processes: Ledger[] = [];

beforeAll(async () => {
  processes = await Promise.all(
    Array.from({ length: processCount }, () =>
      world.openLedger({ wrap: (collection) => faulty(collection, () => faults.shift()) }),
    ),
  );
});

type Wish = {
  readonly process: number;
  readonly task: number;
} & (
  | { readonly verb: 'hold'; readonly amount: bigint }
  | { readonly verb: 'settle'; readonly amount: bigint }
  | { readonly verb: 'release' }
  | { readonly verb: 'refund'; readonly amount: bigint }
  | { readonly verb: 'credit'; readonly amount: bigint }
);

const amount = fc.bigInt({ min: 0n, max: 120n });
const process = fc.nat({ max: processCount - 1 });
const task = fc.nat({ max: 7 });
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { arbitrary: fc.record({ process, task, amount, verb: fc.constant('hold' as const) }), weight: 4 },
  { arbitrary: fc.record({ process, task, amount, verb: fc.constant('settle' as const) }), weight: 3 },
  { arbitrary: fc.record({ process, task, verb: fc.constant('release' as const) }), weight: 2 },
  {
    arbitrary: fc.record({
      process,
      task,
      amount: fc.bigInt({ min: 1n, max: 130n }),
      verb: fc.constant('refund' as const),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      process,
      task,
      amount: fc.bigInt({ min: -60n, max: 200n }).filter((value) => value !== 0n),
      verb: fc.constant('credit' as const),
    }),
    weight: 1,
  },
);
const fault: fc.Arbitrary<WriteFault> = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  'lost',
  'cut',
  'refused',
);

type Answer =
  | HoldResult
  | CloseResult
  | RefundResult
  | { readonly closed: 'no_hold' }
  | { readonly entry: LedgerEntry }
  | Awaited<ReturnType<Ledger['credit']>>;

async function persist<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
    }
  }
}

/** The price of a task must be the same for every caller, because a closing entry repeats the hold. */
const heldFor = (taskNumber: number) => BigInt(10 * taskNumber + 5);

async function fulfil(account: string, request: Wish): Promise<Answer | undefined> {
  const ledger = processes[request.process % processCount];
  if (ledger === undefined) throw new Error('no such process');
  const id = `img_${account}.t${request.task}`;
  const held = heldFor(request.task);
  switch (request.verb) {
    case 'hold':
      return persist(() =>
        ledger.hold({
          account,
          task: id,
          by: { key: 'key_1', model: 'video-1' },
          amount: held,
          basis: heldText,
          overdraftLimit,
        }),
      );
    case 'settle': {
      const settle = () =>
        ledger.settle({
          account,
          task: id,
          held,
          amount: request.amount,
          basis: settledText(request.amount),
        });
      return (await ledger.entriesOfTask(id)).length === 0 ? undefined : persist(settle);
    }
    case 'release':
      return persist(() => ledger.release({ account, task: id, held }));
    case 'refund':
      return persist(() => ledger.refund({ account, task: id, amount: request.amount }));
    case 'credit':
      return persist(() => ledger.credit({ account, amount: request.amount, reference: `${request.task}` }));
    default:
      return request satisfies never;
  }
}

function expectOneTruth(answers: readonly (Answer | undefined)[], entries: readonly LedgerEntry[]): void {
  const stored = new Map(entries.map((entry) => [entry.key, entry]));
  for (const answer of answers) {
    if (answer === undefined || !('entry' in answer)) continue;
    expect(answer.entry).toEqual(stored.get(answer.entry.key));
  }
  const fresh = answers.filter((answer) => answer !== undefined && 'replayed' in answer && !answer.replayed);
  expect(fresh.length).toBeLessThanOrEqual(entries.length);
}

function expectMoneyAddsUp(entries: readonly LedgerEntry[]): void {
  const sum = (...kinds: LedgerEntry['kind'][]) =>
    entries.filter(({ kind }) => kinds.includes(kind)).reduce((total, entry) => total + entry.amount, 0n);
  const last = entries.at(-1);
  const paidIn = sum('credit', 'adjust', 'refund');
  const charged = sum('settle', 'charge_extra');
  expect((last?.available ?? 0n) + (last?.held ?? 0n)).toBe(paidIn - charged);
  for (const entry of entries) expect(entry.held).toBeGreaterThanOrEqual(0n);
  for (const hold of entries.filter(({ kind }) => kind === 'hold')) {
    expect(hold.available).toBeGreaterThanOrEqual(-overdraftLimit);
  }
}

it('any operations, from any processes, through any faults, leave a sound ledger', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(wish, { minLength: 1, maxLength: 40 }),
      fc.array(fault, { maxLength: 25 }),
      fc.boolean(),
      async (wishes, planned, atOnce) => {
        const account = world.newAccount();
        faults = [];
        await processes[0]?.credit({ account, amount: 100n, reference: 'start' });
        faults = [...planned];
        const answers: (Answer | undefined)[] = [];
        if (atOnce) {
          answers.push(...(await Promise.all(wishes.map((request) => fulfil(account, request)))));
        } else {
          for (const request of wishes) answers.push(await fulfil(account, request));
        }
        const entries = (await world.entries.find({ account }).sort({ seq: 1 }).toArray()).map((document) =>
          toEntry(document, testEndUsers),
        );
        expect(await world.chainFaults(account)).toEqual([]);
        expectOneTruth(answers, entries);
        expectMoneyAddsUp(entries);
      },
    ),
    { numRuns: 40 },
  );
  const everything = await verifyLedger({
    db: world.db,
    key: testLedgerKey,
    holders: async (tasks) => new Map(tasks.map((task) => [task, 'workflow'])),
  });
  expect(everything.violations).toEqual([]);
  expect(everything.entries).toBeGreaterThan(100);
});

it('three processes on one busy account keep one chain, and none starves', async () => {
  faults = [];
  const account = world.newAccount();
  await processes[0]?.credit({ account, amount: 1_000_000n, reference: 'start' });
  await Promise.all(
    processes.flatMap((ledger, index) =>
      Array.from({ length: 60 }, async (_, n) => {
        const request = { account, task: `img_${account}.${index}-${n}` };
        await ledger.hold({
          ...request,
          by: { key: 'key_1', model: 'video-1' },
          amount: 10n,
          basis: heldText,
          overdraftLimit: 0n,
        });
        await ledger.settle({ ...request, held: 10n, amount: 7n, basis: settledText(7n) });
      }),
    ),
  );
  expect(await processes[0]?.balance(account)).toEqual({
    available: 1_000_000n - 180n * 7n,
    held: 0n,
    seq: 361n,
  });
  expect(await world.chainFaults(account)).toEqual([]);
});
