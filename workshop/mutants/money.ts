import type { Mutant } from './mutant.ts';

const plan = 'src/ledger/plan.ts';
const planned = ['test/ledger/plan.test.ts'];

/** What the ledger appends, which price counts, and for how much a task is held. */
export const moneyMutants: readonly Mutant[] = [
  {
    name: 'overdraft-to-the-last',
    breaks: 'A hold may use the overdraft to its last micro-unit, and no further.',
    file: plan,
    find: 'head.available - amount < -operation.overdraftLimit',
    replace: 'head.available - amount <= -operation.overdraftLimit',
    tests: planned,
  },
  {
    name: 'settle-takes-the-hold',
    breaks: 'A settle takes no more from the hold than was held.',
    file: 'src/ledger/drafts.ts',
    find: 'const fromHold = amount < held ? amount : held;',
    replace: 'const fromHold = amount;',
    tests: planned,
  },
  {
    name: 'excess-completed',
    breaks: 'The charge beyond a hold that was cut off is completed by whoever comes next.',
    file: plan,
    find: 'drafts: missingExtra(existing, known)',
    replace: 'drafts: []',
    tests: planned,
  },
  {
    name: 'void-is-not-held',
    breaks: 'What was voided cannot be settled.',
    file: plan,
    find: "if (hold === undefined || hold.kind === 'void')",
    replace: 'if (hold === undefined)',
    tests: planned,
  },
  {
    name: 'held-amount',
    breaks: 'A close that names another amount than was held is refused.',
    file: plan,
    find: ' || hold.amount !== held) {',
    replace: ') {',
    tests: planned,
  },
  {
    name: 'refund-within-charge',
    breaks: 'A refund is at most the charge in sum.',
    file: plan,
    find: 'if (amount > charged) return',
    replace: 'if (amount > charged + 1n) return',
    tests: planned,
  },
  {
    name: 'batch-sees-itself',
    breaks: 'Operations of one batch see the effects of those before them.',
    file: plan,
    find: '      for (const entry of added) known.set(entry.key, entry);\n',
    replace: '',
    tests: planned,
  },
  {
    name: 'rule-of-unknown-fact',
    breaks: 'A price rule does not hold for what is not known.',
    file: 'src/money/price.ts',
    find: '(fact === undefined || !allowed.includes(fact))',
    replace: '(fact !== undefined && !allowed.includes(fact))',
    tests: ['test/money/price.test.ts'],
  },
  {
    name: 'open-ratio',
    breaks: 'Where the image decides the ratio, the hold is for the dearest.',
    file: 'src/routing/open-outputs.ts',
    find: 'possible.openRatio === true ? undefined : request.ratio',
    replace: 'request.ratio',
    tests: ['test/routing/hold-covers-charge.test.ts'],
  },
  {
    name: 'dearest-held',
    breaks: 'The hold is for the dearest of everything that the request leaves open.',
    file: 'src/routing/quote.ts',
    find: '(charge.amount > most.amount ? charge : most)',
    replace: '(charge.amount > most.amount ? most : charge)',
    tests: ['test/routing/hold-covers-charge.test.ts'],
  },
  {
    name: 'seconds-half-up',
    breaks: 'Seconds are rounded half up to the millisecond.',
    file: 'src/money/measures.ts',
    find: 'Math.round(seconds * 1000)',
    replace: 'Math.floor(seconds * 1000)',
    tests: ['test/money/price.test.ts'],
  },
];
