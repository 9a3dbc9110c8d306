import type { Mutant } from './mutant.ts';

const file = 'activities/reconcile.ts';
const tests = ['test/activities/reconcile.test.ts'];

/** What the reconciler asks before it ends anything. */
export const reconcilerMutants: readonly Mutant[] = [
  {
    name: 'ended-under-its-workflow',
    breaks: 'A task is not ended, and no creation abandoned, under a running workflow.',
    file,
    find: "    if (run === 'running') return false;\n",
    replace: '',
    tests,
  },
  {
    name: 'answered-and-vanished',
    breaks:
      'A task that was answered with 200 does not vanish with a workflow that was ended before its first step.',
    file,
    find: " && (state.at === 'ended' || run === undefined)",
    replace: '',
    tests,
  },
  {
    name: 'lost-with-temporal',
    breaks: 'A task whose workflow Temporal has lost gets a new one.',
    file,
    find: "run === 'closed' || basis === undefined",
    replace: 'run !== undefined || basis !== undefined',
    tests,
  },
  {
    name: 'terminated-and-started-again',
    breaks: 'A task whose workflow an operator has terminated is ended.',
    file,
    find: "run === 'closed' || basis === undefined",
    replace: 'basis === undefined',
    tests,
  },
  {
    name: 'owed-by-its-workflow',
    breaks: 'A callback that a running workflow owes is not delivered by the reconciler.',
    file,
    find: 'if (!hasCallback || (await workflows.isRunning(id))) return false;',
    replace: 'if (!hasCallback) return false;',
    tests,
  },
  {
    name: 'abandoned-at-first-sight',
    breaks: 'What is abandoned was seen unchanged for a while, by our own clock.',
    file,
    find: 'sightings.unchangedMs(task.id, task.rev) >= abandonedAfterMs',
    replace: 'sightings.unchangedMs(task.id, task.rev) >= 0',
    tests,
  },
  {
    name: 'changed-since-sight',
    breaks: 'A record that changes is not abandoned.',
    file: 'src/process/sightings.ts',
    find: 'known?.version === version ? known : { version, since: now() }',
    replace: 'known ?? { version, since: now() }',
    tests: ['test/process/sightings.test.ts'],
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
    name: 'concern-noted-anew',
    breaks: 'Polls that fail ask for a person again once another concern has come and gone.',
    file: 'activities/poll.ts',
    find: '(concern === undefined || !isFirstLook)) return memory;',
    replace: '(concern === undefined || isFirstLook)) return memory;',
    tests: ['test/activities/attend.test.ts'],
  },
  {
    name: 'paid-is-succeeded',
    breaks: 'A task that was paid is shown as succeeded.',
    file: 'activities/finish.ts',
    find: "if (closed !== 'settled') return failed(task, error, upstream);",
    replace: 'if (closed !== undefined) return failed(task, error, upstream);',
    tests,
  },
];
