import type { Mutant } from './mutant.ts';

const file = 'src/ledger/plan.ts';
const voids = ['test/ledger/void.test.ts'];
const admission = ['test/commands/admission.test.ts'];

/** Abandoning a creation, and its hold. */
export const admissionMutants: readonly Mutant[] = [
  {
    name: 'void-refuses-hold',
    breaks: 'A hold that comes after its void is refused.',
    file,
    find: "existing?.kind === 'void' || known.has(keys.close(task))",
    replace: 'known.has(keys.close(task))',
    tests: voids,
  },
  {
    name: 'close-refuses-hold',
    breaks: 'A hold that was released does not count as held when it is repeated.',
    file,
    find: "existing?.kind === 'void' || known.has(keys.close(task))",
    replace: "existing?.kind === 'void'",
    tests: voids,
  },
  {
    name: 'void-in-the-place',
    breaks: 'A void stands in the place of the hold, so that the index refuses the other.',
    file: 'src/ledger/drafts.ts',
    find: "key: keys.hold(task), kind: 'void'",
    replace: "key: keys.close(task), kind: 'void'",
    tests: voids,
  },
  {
    name: 'void-releases',
    breaks: 'A void releases the hold that is there.',
    file,
    find: "return existing.kind === 'hold' ? { drafts: [releaseDraft(operation, existing)] } : done;",
    replace: 'return done;',
    tests: voids,
  },
  {
    name: 'give-up-voids',
    breaks: 'Abandoning a creation makes its hold impossible.',
    file: 'src/commands/abandon-creation.ts',
    find: 'neverHeld ? undefined : ledger.void(',
    replace: "neverHeld || task !== '' ? undefined : ledger.void(",
    tests: admission,
  },
  {
    name: 'abandon-first',
    breaks: 'A try that no longer has the task takes nothing back.',
    file: 'src/commands/abandon-creation.ts',
    find: "if (record !== undefined && !abandoned.ok) return hasBegun(record) ? 'begun' : 'taken_over';",
    replace: '',
    tests: admission,
  },
  {
    name: 'slow-creation',
    breaks: 'A create that stood still answers 200 only if nobody can abandon the task any more.',
    file: 'src/commands/admission.ts',
    find: 'if (deps.now() - request.begunAt < slowAfterMs)',
    replace: 'if (deps.now() >= request.begunAt)',
    tests: admission,
  },
  {
    name: 'failed-create-gives-its-place-back',
    breaks: 'A create that failed does not count against its key.',
    file: 'src/commands/abandon-creation.ts',
    find: 'if (key !== undefined) await keySlots.release(key, task);',
    replace: '',
    tests: admission,
  },
  {
    name: 'replayed-hold-counts',
    breaks: 'A task is charged by the amount and the price that an earlier try of its creation has held.',
    file: 'src/commands/admission.ts',
    find: 'if (isNew && !held.replayed) return {',
    replace: 'if (held.ok) return {',
    tests: admission,
  },
  {
    name: 'record-of-what-is-held',
    breaks: 'The record says what was held, also where another try has written it at another price.',
    file: 'src/commands/admission.ts',
    find: 'if (isNew && !held.replayed) return {',
    replace: 'if (!held.replayed) return {',
    tests: admission,
  },
];
