import type { Mutant } from './mutant.ts';

const tests = ['test/activities/deliver-callback.test.ts'];

/** The count and the record of callbacks. */
export const callbackMutants: readonly Mutant[] = [
  {
    name: 'callback-counted-first',
    breaks: 'An attempt whose process died counts.',
    file: 'src/store/deliveries.ts',
    find: '$inc: { begun: 1 }, $set: { target }',
    replace: '$set: { target, begun: 1 }',
    tests,
  },
  {
    name: 'callback-delivered-once',
    breaks: 'What was delivered is not repeated in its round.',
    file: 'src/store/deliveries.ts',
    find: "{ _id: task, round, state: { $ne: 'delivered' } }",
    replace: '{ _id: task, round }',
    tests,
  },
  {
    name: 'callback-recorded',
    breaks: 'A database that is away for a moment does not lose what the caller answered.',
    file: 'activities/deliver-callback.ts',
    find: '      deps.now,\n      recordWithinMs,\n',
    replace: '      deps.now,\n      -recordWithinMs,\n',
    tests,
  },
  {
    name: 'callback-abandoned',
    breaks: 'A last attempt whose process died is not pending for ever.',
    file: 'activities/deliver-callback.ts',
    find: '      await deps.deliveries.abandon(task, round);\n',
    replace: '',
    tests,
  },
];
