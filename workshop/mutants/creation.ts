import type { Mutant } from './mutant.ts';

const file = 'src/task/next.ts';
const tests = ['test/task/next.test.ts'];
const steps = ['test/store/task-steps.test.ts'];
const sights = ['test/store/task-sights.test.ts'];

/** A task's record from its creation to the workflow's first step. */
export const creationMutants: readonly Mutant[] = [
  {
    name: 'give-up-unstarted',
    breaks: 'Nobody abandons a task that its workflow, or another try of its creation, has by now.',
    file,
    find: 'return unstarted === task.unstarted',
    replace: "return unstarted !== ''",
    tests,
  },
  {
    name: 'give-up-begun',
    breaks: 'Nobody abandons a task that began to wait while it was being abandoned.',
    file: 'src/store/task-steps.ts',
    find: 'isOfCreation(kind) && unstarted !== undefined ? { unstarted } : {}',
    replace: '{}',
    tests: steps,
  },
  {
    name: 'remove-given-up',
    breaks: 'Only what was abandoned is removed.',
    file: 'src/store/tasks.ts',
    find: "deleteOne({ _id: id, 'state.at': 'given_up' })",
    replace: 'deleteOne({ _id: id })',
    tests: steps,
  },
  {
    name: 'take-over-unstarted',
    breaks: 'A creation is not continued once its workflow has the task.',
    file,
    find: "task.unstarted === undefined ? refuse('decided', 'The task has begun.')",
    replace: "task.unstarted === '' ? refuse('decided', 'The task has begun.')",
    tests,
  },
  {
    name: 'take-over-given-up',
    breaks: 'A creation that was abandoned is not continued.',
    file,
    find: "if (task.state.at === 'given_up') {",
    replace: "if (task.state.at === 'given_up' && event.kind !== 'taken_over') {",
    tests,
  },
  {
    name: 'step-begins',
    breaks: 'From its first step on nobody but the workflow abandons the task.',
    file,
    find: '...(isOfCreation(kind) ? {} : { tryId: undefined }),',
    replace: '',
    tests,
  },
  {
    name: 'wait-begins',
    breaks: 'A task that waits for its channel is not abandoned.',
    file: 'src/store/task-sights.ts',
    find: "          $unset: { tryId: '' },\n",
    replace: '',
    tests: sights,
  },
];
