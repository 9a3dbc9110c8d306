import { situation, standingOf } from '../../src/operating/situation.ts';
import { next } from '../../src/task/next.ts';
import type { Task } from '../../src/task/record.ts';
import { stateNames, type EventName, type StateName, type TaskEvent } from '../../src/task/state.ts';
import { after, events, newTask, timeOf } from './task-model.ts';

/**
 * Generates docs/states.md, which shows the result of `next` for every event in every state. Each state has sample
 * tasks.
 */
export function describeStates(): string {
  const sections = stateNames.map(section);
  return `${[intro, ...sections, tableIntro, stateTable()].join('\n\n')}\n`;
}

const intro = `# States

This page describes every state of a task for developers and operators, and shows how each event changes it.
[operating.md](operating.md#possible-actions-in-each-state) lists what operators can do in each state. Only \`next\` (src/task/next.ts) changes a state. The workflow carries out
the work of each state, and passes the outcome to \`next\`.

\`UPDATE_DOCS=1 npx vitest run test/task/states-page.test.ts\` generates this page.`;

const tableIntro = `## What every event does

Each cell is the effect of an event on a task with two channels and no fallback. All events are about the task's own attempt and come from the
run that began it. A cell contains the next state, "noted" (only the record changes), "–" (nothing changes), or a rejection: *not_now* (the
event is not possible in this state), *over* (the outcome is already decided), *decided* (another process has written first), *abandoned*
(the creation never became a task).`;

const notes: Readonly<Record<StateName, string>> = {
  creating:
    'The API takes the hold and starts the workflow. Any event other than those of the creation ends this state. If the API process dies, the reconciler abandons the creation.',
  queued:
    'The task waits for a slot at the first channel of its round. Then it is submitted, or the next channel is tried. After the last channel, the task pauses.',
  sending:
    'The request may already have been sent, so nothing else is decided until its outcome is known: the job is accepted, the request is rejected, the response is lost, or the task is queued again. If a stop is requested in the meantime, it is recorded for later.',
  pausing:
    'No channel in the plan accepts the task at the moment. The workflow’s timer begins the next round. Each pause is longer than the last, up to five minutes. If a channel asked for a delay, it is not tried earlier.',
  searching:
    'The upstream may have received the request and may bill a job, so the task is never resubmitted automatically. The gateway searches the upstream for the marker. If it finds nothing, a task that is to be stopped ends. For any other task, an operator must decide.',
  asking:
    'The search found nothing, or the upstream cannot be searched. A late response, an operator or the deadline ends this state.',
  waiting:
    'The upstream has the job, and polling detects its end. A cancellation, the deadline and an operator’s `fail` lead to `stopping`.',
  stopping:
    'The gateway asks the upstream to end the job. If the job already has a result, the task uses it. If the upstream does not accept a cancellation, the task returns to its previous state.',
  broken:
    'The upstream repeatedly reported that it does not know the job, so polling has stopped. An operator can resume polling or end the task. If nobody acts, the deadline ends it.',
  ending:
    'The outcome is decided. The gateway writes it to the ledger and then to the record. If the charge is implausible, or cannot be computed or written, an operator must decide. Until both are written, a late success at the upstream replaces a failure, and an operator’s `fail` replaces a success.',
  review:
    'An operator must decide before the outcome is written, because the charge is implausible or the ledger rejects it. The operator can accept the charge, enter different facts, have the task settled again, or fail it. At the deadline the task fails, unless the ledger rejects that as well.',
  ended:
    'The status, the result and the charge are final. If a job appears later, it is recorded as a stray, so that operators can cancel it at its upstream. An abandoned creation is also in this state until its record is removed.',
};

function section(state: StateName): string {
  const [sample] = Object.values(samples[state]);
  if (sample === undefined) throw new TypeError(`no task is ${state}`);
  const { what, waitsFor } = situation(standingOf(sample));
  const wait = waitsFor === undefined ? '' : ` Waits for: \`${waitsFor}\`.`;
  const shown = `Shown as: “${what}”${wait}`;
  return [`## ${state}`, notes[state], shown].join('\n\n');
}

export function transitionSamples() {
  return { tasks: variants(samples), events: variants(sampleEvents) };
}

function stateTable(): string {
  const { tasks, events: happening } = transitionSamples();
  const rows = happening.map(([name, event]) => [name, ...tasks.map(([, task]) => cell(task, event))]);
  return table([['', ...tasks.map(([name]) => name)], ...rows]);
}

function variants<Item>(
  named: Readonly<Record<string, Readonly<Record<string, Item>>>>,
): readonly [string, Item][] {
  return Object.entries(named).flatMap(([name, items]) =>
    Object.entries(items).map(([variant, item]): [string, Item] => [
      variant === '' ? `\`${name}\`` : `\`${name}\`, ${variant}`,
      item,
    ]),
  );
}

function cell(task: Task, event: TaskEvent): string {
  const answer = next(task, event, timeOf(task, event));
  if (!answer.ok) return `*${answer.code}*`;
  const { state } = answer.changes;
  if (state !== undefined && state.at !== task.state.at) return state.at;
  return Object.keys(answer.changes).length === 0 ? '–' : 'noted';
}

function table([header = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}

const sending = after(newTask(), events.sending('a'));
const waiting = after(sending, events.accepted(1));
const searching = after(sending, events.lost(1));
const lost = after(searching, { kind: 'asked' });
const succeeding = after(waiting, events.succeeded(1));

/** A state has several samples if variants behave differently. The default variant has an empty key. */
const samples: Readonly<Record<StateName, Readonly<Record<string, Task>>>> = {
  creating: { '': newTask() },
  queued: { '': after(newTask(), { kind: 'begun' }) },
  sending: { '': sending, 'to be cancelled': after(sending, events.wanted('cancel')) },
  pausing: { '': after(newTask(), events.notAccepted('a'), events.notAccepted('b')) },
  searching: { '': searching, 'to expire': after(searching, events.wanted('expire')) },
  asking: { '': lost },
  waiting: {
    '': waiting,
    'adopted': after(lost, { kind: 'adopted', operation: { id: 'job-1' } }),
  },
  stopping: {
    cancel: after(waiting, events.wanted('cancel')),
    fail: after(waiting, events.wanted('fail')),
  },
  broken: { '': after(waiting, { kind: 'broken', n: 1, code: 'not_found' }) },
  ending: { succeeded: succeeding, failed: after(waiting, events.failed(1)) },
  review: {
    '': after(succeeding, events.reviewed()),
    'not settled': after(succeeding, events.reviewed('unsettled')),
    'not released': after(waiting, events.failed(1), events.reviewed('unreleased')),
  },
  ended: {
    '': after(succeeding, events.ended('succeeded')),
    'abandoned': after(newTask(), { kind: 'abandoned', tryId: 'try-1' }),
  },
}; // prettier-ignore

/**
 * The events are in the order in which they can occur. An event has several samples if its variants behave differently.
 */
const sampleEvents: Readonly<Record<EventName, Readonly<Record<string, TaskEvent>>>> = {
  taken_over: { '': { kind: 'taken_over', tryId: 'try-2' } },
  held: { '': { kind: 'held', hold: 1n } },
  abandoned: { '': { kind: 'abandoned', tryId: 'try-1' } },
  begun: { '': { kind: 'begun' } },
  skipped: { '': { kind: 'skipped', channels: ['a'] } },
  sending: { '': events.sending('a') },
  not_accepted: {
    '': events.notAccepted('a', { n: 1, owner: 'run-1' }),
    'not begun': events.notAccepted('a'),
  },
  rejected: {
    '': events.rejected(1),
    'not begun': { kind: 'rejected', code: 'gone', message: 'It is gone.' },
  },
  lost: { '': events.lost(1) },
  accepted: { '': events.accepted(1), 'another job': events.accepted(1, 'job-2') },
  asked: { '': { kind: 'asked' } },
  resumed: { '': { kind: 'resumed' } },
  rendering: { '': { kind: 'rendering', n: 1 } },
  polled: { succeeded: events.succeeded(1), failed: events.failed(1) },
  broken: { '': { kind: 'broken', n: 1, code: 'not_found' } },
  wanted: { cancel: events.wanted('cancel'), expire: events.wanted('expire'), fail: events.wanted('fail') },
  stopped: { '': { kind: 'stopped' } },
  unstoppable: { '': { kind: 'unstoppable' } },
  adopted: { '': { kind: 'adopted', operation: { id: 'job-3' } } },
  undone: { '': { kind: 'undone' } },
  resubmitted: { '': { kind: 'resubmitted' } },
  completed: { '': events.completed },
  extended: { '': { kind: 'extended', seconds: 3600 } },
  reviewed: { '': events.reviewed(), 'not released': events.reviewed('unreleased') },
  approved: { '': { kind: 'approved' } },
  acted: { '': { kind: 'acted' } },
  orphaned: { '': { kind: 'orphaned' } },
  ended: { '': events.ended('succeeded') },
};
