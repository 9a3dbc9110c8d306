import type { CancellationScope } from '@temporalio/workflow';
import { condition, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { TaskView } from '../activities/types.ts';
import { attentionOf } from '../src/task/attention.ts';
import { defined } from '../src/base/defined.ts';
import { formatAmount } from '../src/money/money.ts';
import { plainText } from '../src/base/plain-text.ts';
import { waitSummaryStart } from '../src/base/queues.ts';
import type { Unserved } from '../src/task/service.ts';
import { mapMoney, moneyInWords } from '../src/task/money-preview.ts';
import type { MoneyPreview } from '../src/task/money-preview.ts';
import { situation } from '../src/task/situation.ts';
import type { Situation } from '../src/task/situation.ts';
import type { TaskInput } from '../src/task/input.ts';
import { newRound } from '../src/task/rounds.ts';
import { isAbandoned, isIdle, isSubmitting, isUnfinished, stopOf } from '../src/task/state.ts';
import { searchAttributes } from './search-attributes.ts';

/** What a task's workflow has: its input, and what it knows of the record. It knows nothing that the record lacks. */
export interface TaskRun {
  readonly input: TaskInput;
  /** Its last local activity, which the next one waits for. */
  lastLocal: Promise<unknown>;
  view: TaskView;
  /** The submission or the wait that is under way, if one is. */
  work: Work | undefined;
  /** What the search attributes say. */
  shown: { readonly channel: string | undefined; readonly attention: string | undefined };
  /** What is added to what the Temporal UI shows, for as long as the task lives. */
  notice: string;
}

/** An activity that the task has at its channel. */
export interface Work {
  readonly activity: 'submit' | 'poll' | 'find';
  readonly channel: string;
  readonly scope: CancellationScope;
  /** While it is not, a worker may have it, be it cancelled or not. */
  isOver: boolean;
  /** It ended without a word, and the record says how far it came. */
  hasFailed: boolean;
  /** How many before it have failed, one after the other, without a change of the record. */
  readonly failures: number;
  /** What was known of the record when it began. */
  readonly rev: number;
}

export function newTaskRun(input: TaskInput): TaskRun {
  const { candidates, deadlineAt } = input;
  return {
    input,
    lastLocal: Promise.resolve(),
    view: {
      rev: -1,
      state: newRound({ attempts: [] }, candidates),
      stateSince: Date.now(),
      deadlineAt,
      status: 'pending',
    },
    work: undefined,
    shown: { channel: candidates[0]?.channel, attention: undefined },
    notice: '',
  };
}

/** Takes over what an activity has learned of the record; what is older than what is known is nothing new. */
export function see(run: TaskRun, view: TaskView): void {
  if (view.rev < run.view.rev) return;
  run.view = view;
  show(run);
}

/** Resolves when the record has changed since, as far as the workflow knows; or after `ms`, by a timer of this summary. */
export async function changed(run: TaskRun, ms?: number, summary = 'a pause'): Promise<void> {
  const { rev } = run.view;
  const isChanged = (): boolean => run.view.rev !== rev;
  if (ms === undefined) await condition(isChanged);
  else await condition(isChanged, Math.max(1, ms), { summary });
}

const summaryCharactersMax = 200;

/** Of the timer with which the task waits: the Timeline of the Temporal UI shows it. */
export function waitSummary(run: TaskRun): string {
  const { attention, what } = situationOf(run);
  return plainText(
    `${waitSummaryStart}${attention === undefined ? '' : `needs attention (${attention}): `}${what}`,
    summaryCharactersMax,
  );
}

function situationOf({ view, input }: TaskRun): Situation {
  const { charge: _charge, ...known } = view;
  const { task: id, hold, hasCallback } = input;
  const unserved = unservedOf(view);
  return situation({ ...known, id, hold: BigInt(hold), hasCallback, ...defined({ unserved }) });
}

/** As far as the record says: the reconciler notes who waits for a worker. */
function unservedOf({ concern, state, attempt }: TaskView): Unserved | undefined {
  if (concern !== 'no_worker') return undefined;
  const next = isIdle(state) ? state.left[0] : attempt;
  return defined({ channel: next?.channel });
}

export function isOver({ view }: TaskRun): boolean {
  return !isUnfinished(view.state);
}

/** Whatever was wanted of the task is done, or has proved impossible. */
export function isDecided(run: TaskRun): boolean {
  const { state } = run.view;
  return isOver(run) || (stopOf(state) === undefined && state.at !== 'ending');
}

function money({ input }: TaskRun, micros: string | bigint): string {
  return formatAmount(BigInt(micros), input.currency);
}

/**
 * Everywhere that operators look: the search attributes, of which each write costs the server as much as a step of the
 * task, and the current details in the Temporal UI, which cost no history event.
 */
export function show(run: TaskRun): void {
  const { state, channel: known } = run.view;
  if (!isOver(run)) {
    const left = isSubmitting(state) ? state.left[0]?.channel : undefined;
    showNews(run, { channel: known ?? left ?? run.shown.channel, attention: attentionOf(run.view) });
  }
  describe(run);
}

/** Of the search attributes that change with the state, those that differ from what they say; and what comes with them. */
function showNews(
  run: TaskRun,
  shown: TaskRun['shown'],
  others: readonly SearchAttributeUpdatePair[] = [],
): void {
  const before = run.shown;
  run.shown = shown;
  const { channel, attention } = shown;
  const news = [
    ...others,
    ...(channel === before.channel ? [] : [{ key: searchAttributes.channel, value: channel ?? null }]),
    ...(attention === before.attention
      ? []
      : [{ key: searchAttributes.needsAttention, value: attention ?? null }]),
  ];
  if (news.length > 0) upsertSearchAttributes(news);
}

/** Markdown for the Temporal UI: what the task waits for, since when, what an operator can do. */
function describe(run: TaskRun): void {
  const { stateSince, deadlineAt } = run.view;
  const since = new Date(stateSince).toISOString();
  const deadline = new Date(deadlineAt).toISOString();
  const notice = run.notice === '' ? '' : `\n\n${run.notice}`;
  const held = isOver(run) ? '' : ` Deadline ${deadline}. Held ${money(run, run.input.hold)}.`;
  setCurrentDetails(`${detailsOf(run)}${notice}\n\nSince ${since}.${held}`);
}

function detailsOf(run: TaskRun): string {
  if (isOver(run)) return endingOf(run);
  const { view } = run;
  const { what, attention, advice, where, upstreamId, marker, charge, actions, until } = situationOf(run);
  const job = upstreamId === undefined ? '' : `, job \`${upstreamId}\``;
  const sought = marker === undefined ? '' : `, marker \`${marker}\``;
  const at =
    where === undefined ? '' : `Channel **${where.channel}**, credential ${where.credential}${job}${sought}.`;
  const asked = attention === undefined ? '' : `**Needs attention: ${attention}**\n\n`;
  const proposed = charge === undefined ? '' : `The charge would be ${money(run, charge)}.`;
  const pause =
    view.state.at === 'pausing' && until !== undefined ? `Until ${new Date(until).toISOString()}.` : '';
  const inWords = (preview: MoneyPreview) => moneyInWords(mapMoney(preview, (micros) => money(run, micros)));
  const commands = actions.map((act) => `- \`${act.command}\` ${inWords(act.money)}`).join('\n');
  const tried = commands === '' ? '' : 'Each first with `--dry-run`.';
  return [`${asked}${what}`, at, proposed, pause, advice ?? '', commands, tried]
    .filter((part) => part !== '')
    .join('\n\n');
}

function endingOf(run: TaskRun): string {
  const { status, charge = '0', error, state } = run.view;
  if (isAbandoned(state)) return 'There is nothing to do: the creation of the task was abandoned.';
  const why = error?.class === undefined ? '' : ` (${error.class})`;
  return `The task ${status}${why}. Charged ${money(run, charge)}.`;
}

/** The end, for lists: written once. */
export function showEnd(run: TaskRun): void {
  const { status, error, upstreamId, channel = run.shown.channel, state } = run.view;
  const ending = [
    { key: searchAttributes.status, value: status },
    ...(error?.class === undefined ? [] : [{ key: searchAttributes.failure, value: error.class }]),
    ...(upstreamId === undefined ? [] : [{ key: searchAttributes.upstreamTaskId, value: upstreamId }]),
  ];
  // A task that has no record is in no list; but nobody should be asked to look at it.
  showNews(run, { channel, attention: undefined }, isAbandoned(state) ? [] : ending);
}

export function note(run: TaskRun, notice: string): void {
  run.notice = notice;
  describe(run);
}
