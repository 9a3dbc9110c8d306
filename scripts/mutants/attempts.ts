import type { Mutant } from './mutant.ts';

const file = 'src/store/attempts.ts';
const tests = ['test/store/attempts.test.ts'];

/** The record of an attempt: which state may follow which. */
export const attemptMutants: readonly Mutant[] = [
  {
    name: 'reclaim-not-accepted',
    breaks: 'Only an attempt that was certainly not accepted is resubmitted.',
    file,
    find: "{ _id: id, state: 'not_accepted' },\n      {\n        $set: { state: 'sending'",
    replace: "{ _id: id },\n      {\n        $set: { state: 'sending'",
    tests,
  },
  {
    name: 'begin-owner',
    breaks: 'Who collides with the claim of another run may not send.',
    file,
    find: "found?.state === 'sending' && found.owner === owner",
    replace: "found?.state === 'sending'",
    tests,
  },
  {
    name: 'begin-unread-collision',
    breaks: 'A collision with a record that cannot be read gives no right to send.',
    file,
    find: 'if (found !== undefined) return found;\n      }\n      throw new CollisionError(id);\n    },\n\n    /**\n     * Makes',
    replace: 'return found;\n      }\n      throw new CollisionError(id);\n    },\n\n    /**\n     * Makes',
    tests,
  },
  {
    name: 'accept-state',
    breaks: 'What was withdrawn, abandoned or accepted as another job is not accepted again.',
    file,
    find: "state: { $in: ['sending', 'ambiguous'] } },\n          { $set: facts",
    replace: 'state: { $exists: true } },\n          { $set: facts',
    tests,
  },
  {
    name: 'refuse-state',
    breaks: 'A late refusal does not overwrite an accepted job.',
    file,
    find: "state: { $in: ['sending', state] }, owner }",
    replace: 'owner }',
    tests,
  },
  {
    name: 'refuse-owner',
    breaks: 'Only the run that sent may write down a refusal.',
    file,
    find: "state: { $in: ['sending', state] }, owner }",
    replace: "state: { $in: ['sending', state] } }",
    tests,
  },
  {
    name: 'withdraw-state',
    breaks: 'What may have been sent is not withdrawn.',
    file,
    find: "{ _id: id, state: 'not_accepted' },\n            { $set: { state: 'withdrawn'",
    replace: "{ _id: id },\n            { $set: { state: 'withdrawn'",
    tests,
  },
  {
    name: 'fail-without-job',
    breaks: 'Only a submission that was accepted can have failed as a job.',
    file,
    find: "{ _id: id, state: 'accepted' },\n        { $set: { state: 'failed'",
    replace: "{ _id: id },\n        { $set: { state: 'failed'",
    tests,
  },
  {
    name: 'supersede-accepted',
    breaks: 'An accepted attempt is not abandoned: its job is the task’s.',
    file,
    find: "state: { $in: ['sending', 'ambiguous'] } },\n        { $set: { state: 'abandoned'",
    replace: "state: { $exists: true } },\n        { $set: { state: 'abandoned'",
    tests,
  },
];
