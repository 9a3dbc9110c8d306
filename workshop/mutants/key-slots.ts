import type { Mutant } from './mutant.ts';

const file = 'src/store/key-slots.ts';
const tests = ['test/store/key-slots.test.ts'];

/** The places of a key with a limit. */
export const keySlotMutants: readonly Mutant[] = [
  {
    name: 'key-slot-limit',
    breaks: 'A key never has more unfinished tasks than its limit.',
    file,
    find: "'tasks.task': { $ne: slot.task }, [`tasks.${limit - 1}`]: { $exists: false }",
    replace: "'tasks.task': { $ne: slot.task }, [`tasks.${limit + 1000}`]: { $exists: false }",
    tests,
  },
  {
    name: 'key-slot-once',
    breaks: 'A task counts once, however often it asks.',
    file,
    find: "'tasks.task': { $ne: slot.task }, ",
    replace: '',
    tests,
  },
  {
    name: 'key-slot-known',
    breaks: 'A task that counts already is let through at the limit.',
    file,
    find: "'tasks.task': task })) !== null",
    replace: "'tasks.task': task })) === undefined",
    tests,
  },
  {
    name: 'key-slot-end',
    breaks: 'A place whose holder died is free at its end.',
    file,
    find: '{ $pull: { tasks: { until: { $lte: now() } } } }',
    replace: '{ $pull: { tasks: { until: { $lte: 0 } } } }',
    tests,
  },
];
