import type { Mutant } from './mutant.ts';

const file = 'src/store/task-creation.ts';
const tests = ['test/store/tasks.test.ts'];

/** The guards of the task's projection from its creation to the workflow's claim. */
export const creationMutants: readonly Mutant[] = [
  {
    name: 'give-up-unstarted',
    breaks: 'Nobody abandons a task that its workflow, or another try of its creation, has by now.',
    file,
    find: 'updateOne({ _id: id, unstarted }, { $set: { given_up: true } })',
    replace: 'updateOne({ _id: id }, { $set: { given_up: true } })',
    tests,
  },
  {
    name: 'remove-given-up',
    breaks: 'Only what was abandoned is removed.',
    file,
    find: 'deleteOne({ _id: id, given_up: true })',
    replace: 'deleteOne({ _id: id })',
    tests,
  },
  {
    name: 'take-over-unstarted',
    breaks: 'A creation is not continued once its workflow has the task.',
    file,
    find: 'unstarted: { $exists: true }, given_up',
    replace: 'given_up',
    tests,
  },
  {
    name: 'take-over-given-up',
    breaks: 'A creation that was abandoned is not continued.',
    file,
    find: 'unstarted: { $exists: true }, given_up: { $exists: false }',
    replace: 'unstarted: { $exists: true }',
    tests,
  },
  {
    name: 'claim-given-up',
    breaks: 'A workflow does not run a task that was abandoned.',
    file,
    find: '{ _id: id, given_up: { $exists: false } },\n        { $set: { hold }',
    replace: '{ _id: id },\n        { $set: { hold }',
    tests,
  },
  {
    name: 'claim-unstarted',
    breaks: 'From the claim on nobody but the workflow abandons the task.',
    file,
    find: "{ $set: { hold }, $unset: { unstarted: '' } }",
    replace: '{ $set: { hold } }',
    tests,
  },
];
