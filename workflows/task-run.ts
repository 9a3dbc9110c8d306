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
import { mapMoney, moneyInWords, type MoneyPreview } from '../src/operating/money-preview.ts';
import { situation, type Situation } from '../src/operating/situation.ts';
import type { TaskInput } from '../src/task/input.ts';
import { newRound } from '../src/task/rounds.ts';
import { isAbandoned, isIdle, isSubmitting, isUnfinished, stopOf } from '../src/task/state.ts';
import { searchAttributes } from './search-attributes.ts';

/** Contains nothing that a new run cannot rebuild from the input and the record. */
export interface TaskRun {
  readonly input: TaskInput;
  lastLocal: Promise<unknown>;
  view: SeenView;
  work: Work | undefined;
  shown: { readonly channel: string | undefined; readonly attention: string | undefined };
  notice: string;
}

interface SeenView extends TaskView {
  /**
   * The deadline in Unix milliseconds by the workflow's clock. The record's deadline uses the database's clock, so only
   * durations are taken from the record.
   */
  readonly dueAt: number;
}

export interface Work {
  readonly activity: 'submit' | 'poll' | 'find';
  readonly channel: string;
  readonly scope: CancellationScope;
  /** After a cancellation, remains false until the activity has really ended. */
  isOver: boolean;
  /** True if the activity ended without returning a view. How far it got is then shown by the record. */
  hasFailed: boolean;
  /** The number of consecutive failures before this activity, during which the record did not change. */
  readonly failures: number;
  readonly rev: number;
}

export function isUnderWay(work: Work | undefined): work is Work {
  return work !== undefined && !work.isOver && !work.scope.consideredCancelled;
}

export function newTaskRun(input: TaskInput, shown?: TaskRun['shown']): TaskRun {
  const { candidates, deadlineAt } = input;
  return {
    input,
    lastLocal: Promise.resolve(),
    view: {
      rev: -1,
      state: newRound({ attempts: [] }, candidates),
      stateSince: Date.now(),
      deadlineAt,
      dueAt: deadlineAt,
      status: 'pending',
    },
    work: undefined,
    shown: shown ?? { channel: candidates[0]?.channel, attention: undefined },
    notice: '',
  };
}

/**
 * `since` is the revision that was known when the read began. Reads never return an older one, so if this one does,
 * MongoDB was restored from a backup, and the workflow continues from the restored record.
 */
export function see(run: TaskRun, view: TaskView, since: number): void {
  if (view.rev < run.view.rev && view.rev >= since) return;
  const dueAt =
    view.remainingMs === undefined
      ? run.view.dueAt + view.deadlineAt - run.view.deadlineAt
      : Date.now() + view.remainingMs;
  run.view = { ...view, dueAt };
  show(run);
}

/** Waits for the record to change, but at most `ms` milliseconds. The Temporal UI shows the summary with the timer. */
export async function changed(run: TaskRun, ms?: number, summary = 'a pause'): Promise<void> {
  const { rev } = run.view;
  const isChanged = (): boolean => run.view.rev !== rev;
  if (ms === undefined) await condition(isChanged);
  else await condition(isChanged, Math.max(1, ms), { summary });
}

const summaryCharactersMax = 200;

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

function unservedOf({ concern, state, attempt }: TaskView): Unserved | undefined {
  if (concern !== 'no_worker') return undefined;
  const next = isIdle(state) ? state.left[0] : attempt;
  return defined({ channel: next?.channel });
}

export function isOver({ view }: TaskRun): boolean {
  return !isUnfinished(view.state);
}

/** True once the requested end of the task has happened or has turned out to be impossible. */
export function isDecided(run: TaskRun): boolean {
  const { state } = run.view;
  return isOver(run) || (stopOf(state) === undefined && state.at !== 'ending');
}

function money({ input }: TaskRun, micros: string | bigint): string {
  return formatAmount(BigInt(micros), input.currency);
}

/**
 * Writes search attributes only if they change, because each write costs the server as much as a task step. The details
 * in the Temporal UI do not cost a history event.
 */
export function show(run: TaskRun): void {
  const { state, channel: known } = run.view;
  if (!isOver(run)) {
    const left = isSubmitting(state) ? state.left[0]?.channel : undefined;
    showNews(run, { channel: known ?? left ?? run.shown.channel, attention: attentionOf(run.view) });
  }
  describe(run);
}

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
  const tried = commands === '' ? '' : 'Try each action with `--dry-run` first.';
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

/** Writes the search attributes once more when the task has ended, so that lists of workflows show how it ended. */
export function showEnd(run: TaskRun): void {
  const { status, error, upstreamId, channel = run.shown.channel, state } = run.view;
  const ending = [
    { key: searchAttributes.status, value: status },
    ...(error?.class === undefined ? [] : [{ key: searchAttributes.failure, value: error.class }]),
    ...(upstreamId === undefined ? [] : [{ key: searchAttributes.upstreamTaskId, value: upstreamId }]),
  ];
  // A task whose creation was abandoned is in no list. Clear its attention flag anyway, so that no operator looks for
  // it.
  showNews(run, { channel, attention: undefined }, isAbandoned(state) ? [] : ending);
}

export function note(run: TaskRun, notice: string): void {
  run.notice = notice;
  describe(run);
}
