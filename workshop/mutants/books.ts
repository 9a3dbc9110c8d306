import type { Mutant } from './mutant.ts';

const caps = ['test/ledger/caps.test.ts'];
const usage = ['test/http/routes/get-usage.test.ts'];
const margin = ['test/http/routes/get-margin.test.ts'];
const costs = ['test/domain/task-cost.test.ts'];
const finished = ['test/activities/finish.test.ts'];

/** What is read from the ledger's entries: what caps leave, what was used, and what was earned. */
export const bookMutants: readonly Mutant[] = [
  {
    name: 'caps-to-the-last',
    breaks: 'A cap lets through what fits, to its last micro-unit.',
    file: 'src/domain/caps.ts',
    find: 'used + amount > limit',
    replace: 'used + amount >= limit',
    tests: caps,
  },
  {
    name: 'caps-least-left',
    breaks: 'Of several caps that refuse, the one with least left is named.',
    file: 'src/domain/caps.ts',
    find: 'state.left < least.left',
    replace: 'state.left > least.left',
    tests: caps,
  },
  {
    name: 'caps-clock-behind',
    breaks: 'A writer whose clock is behind writes no entry before the last one, and opens no window again.',
    file: 'src/ledger/plan.ts',
    find: 'Math.max(start.at, head.at)',
    replace: 'start.at',
    tests: ['test/ledger/plan.test.ts'],
  },
  {
    name: 'caps-own-window',
    breaks: 'What is given back returns to the window of its hold.',
    file: 'src/ledger/spent.ts',
    find: 'windowOf(day, size) === windowOf(last, size) ? kept + amount : kept',
    replace: 'kept + amount',
    tests: caps,
  },
  {
    name: 'usage-beyond-the-hold',
    breaks: 'What was charged beyond a hold counts as used.',
    file: 'src/ledger/usage.ts',
    find: "sum('settle') + sum('charge_extra')",
    replace: "sum('settle')",
    tests: usage,
  },
  {
    name: 'usage-still-open',
    breaks: 'A task that was released is not open.',
    file: 'src/ledger/usage.ts',
    find: 'open: tasks - settled - released',
    replace: 'open: tasks - settled',
    tests: usage,
  },
  {
    name: 'margin-lost-is-not-free',
    breaks: 'What a lost attempt cost is not known.',
    file: 'src/domain/task-cost.ts',
    find: "state === 'failed' || state === 'not_accepted'",
    replace: "state === 'lost' || state === 'failed' || state === 'not_accepted'",
    tests: costs,
  },
  {
    name: 'margin-own-number-first',
    breaks: 'The upstream’s own number counts before any rule.',
    file: 'src/domain/task-cost.ts',
    find: '  if (reported !== undefined) return reported;\n',
    replace: '',
    tests: costs,
  },
  {
    name: 'margin-stray',
    breaks: 'A stray job may be billed.',
    file: 'src/domain/task-cost.ts',
    find: '...(attempt.stray === undefined ? [] : [undefined])',
    replace: '',
    tests: costs,
  },
  {
    name: 'margin-sold-is-not-bought',
    breaks: 'The price that a channel sells at is not what it costs.',
    file: 'activities/settlement.ts',
    find: 'basis: costBasis(basis, terms.price)',
    replace: 'basis: { ...basis, price: terms.price }',
    tests: finished,
  },
  {
    name: 'margin-of-the-books',
    breaks: 'A repeat of a task’s end shows what the ledger has of its cost.',
    file: 'activities/finish.ts',
    find: 'const { upstream } = closed.entry;',
    replace: 'const upstream = cost;',
    tests: finished,
  },
  {
    name: 'margin-hashed',
    breaks: 'The hash of an entry covers the cost.',
    file: 'src/ledger/entry.ts',
    find: '[entry.ended_on, ...inOrder(entry.upstream)]',
    replace: '[entry.ended_on]',
    tests: ['test/ledger/plan.test.ts'],
  },
  {
    name: 'margin-verified',
    breaks: '`ledger verify` compares the cost of a task with that of its entry.',
    file: 'src/ledger/verify-tasks.ts',
    find: 'if (shown !== written)',
    replace: 'if (shown === undefined)',
    tests: ['test/ledger/corruptions.test.ts'],
  },
  {
    name: 'margin-refund-is-no-task',
    breaks: 'A refund is not counted as a task.',
    file: 'src/ledger/margin.ts',
    find: 'tasks: { $sum: { $cond: [isRefund, 0, 1] } }',
    replace: 'tasks: { $sum: 1 }',
    tests: margin,
  },
  {
    name: 'margin-refunded',
    breaks: 'What was refunded is not earned.',
    file: 'src/domain/margin.ts',
    find: 'return charged - refunded - cost;',
    replace: 'return charged - cost;',
    tests: margin,
  },
];
