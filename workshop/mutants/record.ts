import type { Mutant } from './mutant.ts';

const table = 'src/task/next.ts';
const job = 'src/task/job.ts';
const stop = 'src/task/stop.ts';
const tests = ['test/task/next.test.ts'];
const steps = ['test/store/task-steps.test.ts'];
const sights = ['test/store/task-sights.test.ts'];

/** The record, from its submission to its end: what is written is what was decided, once. */
export const recordMutants: readonly Mutant[] = [
  {
    name: 'step-rev',
    breaks: 'A change is written only on the record that it was decided on.',
    file: 'src/store/task-steps.ts',
    find: "{ _id: id, rev, 'wait.since'",
    replace: "{ _id: id, 'wait.since'",
    tests: steps,
  },
  {
    name: 'refusal-confirmed',
    breaks: 'What refuses a change is read by a write.',
    file: 'src/store/task-steps.ts',
    find: '} else if (tries > 0) {',
    replace: '} else {',
    tests: steps,
  },
  {
    name: 'act-once',
    breaks: 'An act that is repeated is carried out once.',
    file: 'src/store/task-steps.ts',
    find: '  if (actions.some(({ id }) => id === record.id)) return { ok: true, changes: {} };\n',
    replace: '',
    tests: steps,
  },
  {
    name: 'job-of-one-task',
    breaks: 'No upstream job belongs to two tasks.',
    file: 'src/store/tasks.ts',
    find: "name: 'jobs', unique: true, sparse: true",
    replace: "name: 'jobs', sparse: true",
    tests: steps,
  },
  {
    name: 'status-forward',
    breaks: 'A second job does not bring back what callers have seen.',
    file: 'src/task/submission.ts',
    find: "task.status === 'pending' ? { status: 'submitted' as const } : {}",
    replace: "{ status: 'submitted' as const }",
    tests,
  },
  {
    name: 'running-once',
    breaks: 'A poll that finds a job running again writes nothing.',
    file: job,
    find: "return task.status === 'submitted' ? change({ status: 'running' }) : unchanged;",
    replace: "return change({ status: 'running' });",
    tests,
  },
  {
    name: 'progress-of-a-job',
    breaks: 'A late poll does not change the progress of a task that has ended.',
    file: 'src/store/task-sights.ts',
    find: "{ _id: id, 'state.at': { $in: ['waiting', 'stopping'] as const } },\n        { $set: { updatedAt: now(), ...defined({ progress",
    replace: '{ _id: id },\n        { $set: { updatedAt: now(), ...defined({ progress',
    tests: sights,
  },
  {
    name: 'concern-beside-state',
    breaks: 'What the state itself asks a person for is not replaced, nor withdrawn.',
    file: 'src/store/task-sights.ts',
    find: "'state.at': { $nin: ['asking', 'broken', 'review'] as const },",
    replace: '',
    tests: sights,
  },
  {
    name: 'concern-of-a-poll',
    breaks: 'What a poll sees does not hide that its channel is gone.',
    file: 'src/store/task-sights.ts',
    find: 'ofPolls.has(concern) ? { concern: { $nin: beyondPolls } } : {}',
    replace: '{}',
    tests: sights,
  },
  {
    name: 'success-wins',
    breaks: 'A success replaces the failure that an earlier poll had written.',
    file: table,
    find: '  ending: { polled: corrected, ',
    replace: '  ending: { ',
    tests,
  },
  {
    name: 'success-stays',
    breaks: 'The first result counts; a later one does not replace it.',
    file: job,
    find: "ending.kind === 'failed' && ",
    replace: '',
    tests,
  },
  {
    name: 'decided-end-stays',
    breaks: 'A cancelled task does not succeed afterwards.',
    file: job,
    find: ' && ending.error === undefined',
    replace: '',
    tests,
  },
  {
    name: 'outcome-of-replaced',
    breaks: 'A job that was replaced has no outcome any more.',
    file: stop,
    find: '(n === undefined || n === attempt?.n) && ',
    replace: '',
    tests,
  },
  {
    name: 'outcome-of-another-job',
    breaks: 'What was asked about the job that an operator took back is no answer about the next one.',
    file: stop,
    find: ' && (job === undefined || job === attempt?.operation?.id)',
    replace: '',
    tests,
  },
  {
    name: 'finish-once',
    breaks: 'A terminal state is written once.',
    file: table,
    find: '  ended: { ended: same },',
    replace: '  ended: { ended },',
    tests,
  },
  {
    name: 'completed-closes-the-lost',
    breaks: 'The late answer to a lost submission is nothing to a task that a person has completed.',
    file: job,
    find: '    outcome,\n    attempts: withoutLost(task),\n',
    replace: '    outcome,\n',
    tests,
  },
  {
    name: 'unstoppable-cancel',
    breaks: 'An upstream that does not cancel takes back the caller’s wish, and no deadline.',
    file: stop,
    find: "return task.state.stop === 'cancel' && isAboutIts(task, event)",
    replace: 'return isAboutIts(task, event)',
    tests,
  },
];
