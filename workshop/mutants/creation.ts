import type { Mutant } from './mutant.ts';

const file = 'src/task/next.ts';
const tests = ['test/task/next.test.ts'];
const steps = ['test/store/task-steps.test.ts'];
const waits = ['test/activities/note-wait.test.ts'];

/** A task's record from its creation to the workflow's first step. */
export const creationMutants: readonly Mutant[] = [
  {
    name: 'abandon-begun',
    breaks: 'Nobody abandons a task that its workflow, or another try of its creation, has by now.',
    file,
    find: 'state.tryId === tryId\n',
    replace: "state.tryId !== ''\n",
    tests,
  },
  {
    name: 'remove-abandoned',
    breaks: 'Only what was abandoned is removed.',
    file: 'src/store/tasks.ts',
    find: "deleteOne({ _id: id, 'state.abandoned': { $exists: true } })",
    replace: 'deleteOne({ _id: id })',
    tests: steps,
  },
  {
    name: 'take-over-begun',
    breaks: 'A creation is not continued once its workflow has the task.',
    file,
    find: '  taken_over: begun,',
    replace: '  taken_over: noted,',
    tests,
  },
  {
    name: 'take-over-abandoned',
    breaks: 'A creation that was abandoned is not continued.',
    file,
    find: '  if (isAbandoned(state)) {',
    replace: "  if (isAbandoned(state) && event.kind !== 'taken_over') {",
    tests,
  },
  {
    name: 'step-begins',
    breaks: 'From its first step on nobody but the workflow abandons the task.',
    file,
    find: '    ? change({ state, ...after.changes })',
    replace: '    ? change(after.changes)',
    tests,
  },
  {
    name: 'wait-begins',
    breaks: 'A task that waits for its channel is not abandoned.',
    file: 'activities/note-wait.ts',
    find: "state.at === 'creating'",
    replace: 'false',
    tests: waits,
  },
];
