import type { Mutant } from './mutant.ts';

const file = 'src/task/submission.ts';
const tests = ['test/task/next.test.ts'];

/** The attempts of a record: which state may follow which. */
export const attemptMutants: readonly Mutant[] = [
  {
    name: 'reclaim-not-accepted',
    breaks: 'Only an attempt that was certainly not accepted is sent again under its number.',
    file,
    find: "one.state === 'not_accepted' && ",
    replace: '',
    tests,
  },
  {
    name: 'reclaim-with-a-stray',
    breaks: 'A number whose job has turned up after all is not given to another submission.',
    file,
    find: "one.state === 'not_accepted' && one.stray === undefined",
    replace: "one.state === 'not_accepted'",
    tests,
  },
  {
    name: 'one-in-flight',
    breaks: 'Nothing is sent while the answer to another submission is awaited.',
    file: 'src/task/next.ts',
    find: 'sending: sendingAgain,',
    replace: 'sending,',
    tests,
  },
  {
    name: 'begin-owner',
    breaks: 'Who collides with the submission of another run may not send.',
    file,
    find: "?.owner === owner\n    ? unchanged\n    : refuse('decided', 'A submission is in flight.')",
    replace: " === undefined ? refuse('decided', 'A submission is in flight.') : unchanged",
    tests,
  },
  {
    name: 'accept-of-a-stale-run',
    breaks: 'The job of a submission that the task went on without is not the task’s.',
    file: 'src/task/job.ts',
    find: '  if (n !== task.state.n) return acceptedLate(task, event);\n',
    replace: '',
    tests,
  },
  {
    name: 'refuse-state',
    breaks: 'A late refusal does not overwrite an accepted job.',
    file,
    find: 'return state.n === n && attempt?.owner === owner',
    replace: 'return attempt?.owner === owner',
    tests,
  },
  {
    name: 'refuse-owner',
    breaks: 'Only the run that sent may write down a refusal.',
    file,
    find: 'return state.n === n && attempt?.owner === owner',
    replace: 'return state.n === n',
    tests,
  },
  {
    name: 'supersede-accepted',
    breaks: 'An accepted attempt is not abandoned: its job is the task’s.',
    file: 'src/task/transition.ts',
    find: "attempt.state === 'lost' || attempt.state === 'sending' ? { ...attempt, state: 'abandoned' } : attempt",
    replace: "attempt.n > 0 ? { ...attempt, state: 'abandoned' } : attempt",
    tests,
  },
];
