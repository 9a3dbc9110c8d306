import type { Mutant } from './mutant.ts';

const submit = ['test/activities/submit.test.ts'];

/** "Submitted once": what is done with the record of an attempt. */
export const submissionMutants: readonly Mutant[] = [
  {
    name: 'record-read-first',
    breaks: 'The record is read before any waiting: an accepted job is never behind unsent ones.',
    file: 'activities/submit.ts',
    find: "    if (begun !== undefined && begun.state !== 'not_accepted') return resume(begun, input, deps);\n",
    replace: '',
    tests: submit,
  },
  {
    name: 'record-claimed',
    breaks: 'Who does not get the claim does not send.',
    file: 'activities/submit.ts',
    find: 'if (begun !== undefined) {\n      deps.submitLimiter',
    replace: 'if (begun !== undefined && begun.n < 0) {\n      deps.submitLimiter',
    tests: submit,
  },
  {
    name: 'earlier-attempt-closed',
    breaks: 'An attempt is closed for good before the next one is made; its job is adopted.',
    file: 'activities/submit.ts',
    find: 'if (input.n === 1) return undefined;',
    replace: 'if (input.n >= 1) return undefined;',
    tests: submit,
  },
  {
    name: 'stalled-worker',
    breaks: 'A worker that stood still between claim and request does not send.',
    file: 'activities/submit.ts',
    find: 'if (deps.now() - begunAt > stalledMs) return recordStall(claim);',
    replace: '',
    tests: submit,
  },
  {
    name: 'accept-heartbeat',
    breaks: 'The job’s id reaches the server while MongoDB is away, so that it survives this worker.',
    file: 'activities/submit.ts',
    find: '{ operation: answer.operation },',
    replace: '',
    tests: submit,
  },
  {
    name: 'accept-repeated',
    breaks: 'The job’s id is written until it is written.',
    file: 'activities/submit.ts',
    find: 'persistently(() => accept(answer, input, deps), deps.now)',
    replace: 'accept(answer, input, deps)',
    tests: submit,
  },
  {
    name: 'accept-remembered',
    breaks: 'The job’s id that a dead worker heartbeat is taken up by the next one.',
    file: 'activities/attempt-record.ts',
    find: 'if (remembered.success) return accept(remembered.data, input, deps);',
    replace: '',
    tests: submit,
  },
  {
    name: 'heartbeat-kept',
    breaks: 'A heartbeat without details keeps those of the run before.',
    file: 'activities/heartbeat.ts',
    find: 'details ?? context.info.heartbeatDetails',
    replace: 'details',
    tests: ['test/activities/heartbeat.test.ts'],
  },
  {
    name: 'refusal-repeated',
    breaks: 'A refusal is written until it is written.',
    file: 'activities/submit-answer.ts',
    find: 'return withHeartbeat(persistently(writeOnce, deps.now));',
    replace: 'return withHeartbeat(writeOnce());',
    tests: submit,
  },
  {
    name: 'not-accepted-is-closed',
    breaks: 'The workflow hears "not accepted" only once no run of the attempt can send.',
    file: 'activities/submit-answer.ts',
    find: "return record.state === 'withdrawn' ? undefined : resume(record, input, deps);",
    replace: "return record.state === 'nothing' ? resume(record, input, deps) : undefined;",
    tests: submit,
  },
];
