import { formatMicros } from '../../src/money/money.ts';
import { mapMoney, moneyInWords } from '../../src/task/money-preview.ts';
import { situation, standingOf } from '../../src/task/situation.ts';
import { next } from '../../src/task/next.ts';
import type { Task } from '../../src/task/record.ts';
import { stateNames } from '../../src/task/state.ts';
import type { EventName, StateName, TaskEvent } from '../../src/task/state.ts';
import { after, events, newTask, start } from './task-model.ts';

/** docs/states.md: what `next` makes of every event in every state, tried on one task for each state. */
export function describeStates(): string {
  const sections = stateNames.map(section);
  return `${[intro, ...sections, tableIntro, stateTable()].join('\n\n')}\n`;
}

const intro = `# States

Where a task stands, and what leads from one state to another. \`next\` (src/task/next.ts) is the only way; the workflow
does what a state asks for, and hands what comes of it back. This page is generated from the code:
\`UPDATE_DOCS=1 npx vitest run test/task/states-page.test.ts\` writes it, and the same test keeps it in sync. What an operator
does in each case: [operating.md](operating.md).`;

const tableIntro = `## What every event does

Tried on a task of two channels and no fallback, with an event that is about its own attempt and comes from who has begun it.
A name is the state that follows; "noted" changes the record and not the state, "–" nothing. The words in italics are
refusals: *not_now* (the event does not belong to the state), *over* (the end is decided), *decided* (somebody else has written
before), *abandoned* (it never was a task).`;

/** Two sentences on each state: what it means, and what leaves it. */
const notes: Readonly<Record<StateName, string>> = {
  creating:
    'The API is creating the task: its hold is taken, and its workflow started. The first event that is not about the creation ends it; a creation whose process died is abandoned by the reconciler.',
  queued:
    'The task waits for a slot at the first channel of its round. It is then submitted, or the next channel is asked. After the last channel the task pauses.',
  sending:
    'The request may have left, and its answer is read before anything else is decided: the job is accepted, the request is rejected, the answer is lost, or the task is queued again. A stop that comes meanwhile is noted in the state.',
  pausing:
    'No channel of the plan accepts the task at the moment; none is asked before the time that it has named. The workflow’s timer begins the next round, and each pause is longer, up to five minutes.',
  searching:
    'The request may have reached the upstream, and a job may be billed, so it is never resubmitted automatically. The upstream is searched for the marker. If nothing is found, a task with a pending stop ends; otherwise an operator is asked.',
  asking:
    'The search found nothing, and a person is asked. A late answer, an operator or the deadline leaves the state.',
  waiting:
    'The upstream has the job, and its polls report the end. A cancellation, the deadline and an operator’s `fail` lead to `stopping`.',
  stopping:
    'The upstream is asked to end the job. A result that already exists counts. If the upstream refuses a cancellation, the task returns to its previous state.',
  broken:
    'The upstream keeps saying that it does not know the job, so that polling has stopped. An operator has it polled again, or ends the task; so does the deadline.',
  ending:
    'How the task ends is decided; the ledger is written, then the end, and the step is repeated until both are there. A charge that is not credible, or whatever cannot be computed or written for what it is, becomes a question to a person; a success of the upstream still replaces its failure, and an operator’s `fail` a success that is not written.',
  review:
    'How the task ends is decided, and a person is asked before it is written: about a charge that is not credible, or about what the ledger refuses. An operator leaves it, who accepts the charge, states other facts, has it settled once more or fails the task; so does the deadline, which fails it, unless the ledger contradicts even that.',
  ended:
    'The status, the result and the charge are final. A job that turns up now is noted as a stray, for operators to cancel at its upstream. An abandoned creation has ended, too: it never was a task, and its record is about to be removed.',
};

function section(state: StateName): string {
  const [sample] = Object.values(samples[state]);
  if (sample === undefined) throw new TypeError(`no task is ${state}`);
  const { what, waitsFor, actions } = situation(standingOf(sample));
  const wait = waitsFor === undefined ? '' : ` Waits for: \`${waitsFor}\`.`;
  const acts = actions.map(
    ({ name, money }) => `\`${name}\` (${moneyInWords(mapMoney(money, formatMicros))})`,
  );
  const shown = `Shown of such a task, of which ${formatMicros(sample.hold)} is held: “${what}”${wait}`;
  const operators = `Operators: ${acts.length === 0 ? 'nothing' : acts.join(', ')}.`;
  return [`## ${state}`, notes[state], shown, operators].join('\n\n');
}

/** A task of each state, and each event: what `next` is tried on. */
export function transitionSamples() {
  return { tasks: variants(samples), events: variants(sampleEvents) };
}

function stateTable(): string {
  const { tasks, events: happening } = transitionSamples();
  const rows = happening.map(([name, event]) => [name, ...tasks.map(([, task]) => cell(task, event))]);
  return table([['', ...tasks.map(([name]) => name)], ...rows]);
}

/** `name` or `name, variant`, with what it stands for. */
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
  const answer = next(task, event, start);
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

/** Each state has a task, and where it matters several. The state's own name: what is usual. */
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

/** Each event has a row, and where it matters several, in the order in which they may happen. */
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
