import type { Mutant } from './mutant.ts';

const file = 'activities/reconcile.ts';
const tests = ['test/activities/reconcile.test.ts'];

/** What the reconciler asks before it ends anything, and what a workflow asks before it begins. */
export const reconcilerMutants: readonly Mutant[] = [
  {
    name: 'closed-still-runs',
    breaks: 'A task that was reset runs again: the reconciler asks before it ends one whose run was closed.',
    file,
    find: 'isTerminal(task.status) || (await workflows.isRunning(id))',
    replace: 'isTerminal(task.status)',
    tests,
  },
  {
    name: 'closed-terminal',
    breaks: 'A task that has ended gets no second callback from the reconciler.',
    file,
    find: 'isTerminal(task.status) || (await workflows.isRunning(id))',
    replace: 'await workflows.isRunning(id)',
    tests,
  },
  {
    name: 'unstarted-runs',
    breaks: 'A creation whose workflow waits for a worker is not abandoned.',
    file,
    find: 'unstarted === undefined || (await workflows.isRunning(id))',
    replace: 'unstarted === undefined',
    tests,
  },
  {
    name: 'overdue-runs',
    breaks: 'A task that is late is not ended under its running workflow.',
    file,
    find: 'if (!(await workflows.isRunning(task.id))) {',
    replace: 'if (task.unstarted === undefined) {',
    tests,
  },
  {
    name: 'one-bad-task',
    breaks: 'One task that cannot be repaired stops neither the others nor the upkeep.',
    file,
    find: '        counts.failed += 1;',
    replace: '        if (counts.failed === 0) throw error;',
    tests,
  },
  {
    name: 'reconciled-callback',
    breaks: 'Whoever ends a task owes its callback.',
    file,
    find: '    await deps.owedCallback(id);',
    replace: '',
    tests,
  },
  {
    name: 'paid-is-succeeded',
    breaks: 'A task that was paid is shown as succeeded.',
    file,
    find: "status: closed === 'settled' ? 'succeeded' : 'failed'",
    replace: "status: 'failed'",
    tests,
  },
  {
    name: 'claim-not-held',
    breaks: 'Nothing is submitted for which nothing is held.',
    file: 'activities/claim.ts',
    find: "if (!isHeld) return { state: 'not_held' };",
    replace: '',
    tests: ['test/activities/claim.test.ts'],
  },
  {
    name: 'claim-closed-hold',
    breaks: 'A projection is not restored once its hold is closed.',
    file: 'activities/claim.ts',
    find: '!isHeld || isClosed || (await',
    replace: '!isHeld || (await',
    tests: ['test/activities/claim.test.ts'],
  },
  {
    name: 'claim-resumes',
    breaks: 'After a reset the workflow resumes the job that an earlier run submitted.',
    file: 'activities/claim.ts',
    find: "begun.find(({ state }) => state === 'accepted')",
    replace: 'begun.find(({ n }) => n < 0)',
    tests: ['test/activities/claim.test.ts'],
  },
];
