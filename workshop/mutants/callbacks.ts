import type { Mutant } from './mutant.ts';

const file = 'src/store/task-callbacks.ts';
const tests = ['test/activities/deliver-callback.test.ts'];

/** The count and the record of callbacks. */
export const callbackMutants: readonly Mutant[] = [
  {
    name: 'callback-counted-first',
    breaks: 'An attempt whose process died counts.',
    file,
    find: "$inc: { 'callback.begun': 1 }, $set: { 'callback.target': target }",
    replace: "$set: { 'callback.target': target, 'callback.begun': 1 }",
    tests,
  },
  {
    name: 'callback-delivered-once',
    breaks: 'What was delivered is not repeated in its round.',
    file,
    find: "'callback.round': round, 'callback.state': { $ne: 'delivered' } }",
    replace: "'callback.round': round }",
    tests,
  },
  {
    name: 'callback-recorded',
    breaks: 'A database that is away for a moment does not lose what the caller answered.',
    file: 'activities/deliver-callback.ts',
    find: 'maxMs: recordWithinMs',
    replace: 'maxMs: -recordWithinMs',
    tests,
  },
  {
    name: 'callback-abandoned',
    breaks: 'A last attempt whose process died is not pending for ever.',
    file: 'activities/deliver-callback.ts',
    find: '      await deps.tasks.abandonCallback(task, round);\n',
    replace: '',
    tests,
  },
  {
    name: 'callback-unanswered',
    breaks: 'A first request that is not answered yet is not repeated at once.',
    file: 'activities/first-callback.ts',
    find: 'dueIn(unansweredMs)',
    replace: "({ state: 'pending' as const })",
    tests: ['test/activities/first-callback.test.ts'],
  },
];
