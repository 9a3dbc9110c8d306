import { defined } from '../base/defined.ts';
import type { Ending, EventOf, Question, StateOf } from './state.ts';
import { change, notNow, refuse, type In, type Next } from './transition.ts';

/** Asks an operator before the outcome is written. Refused if a different outcome has been decided in the meantime. */
export function reviewed(task: In<'ending'>, { kind, ...question }: EventOf<'reviewed'>): Next {
  const { state } = task;
  const decided = question.why === 'unreleased' ? 'failed' : 'succeeded';
  if (state.ending.kind !== decided) return notNow(task, kind);
  // If the charge cannot be computed or written, an operator's approval does not help, so ask again.
  const isAnswered = question.why === 'unreleased' || unacceptable[question.why] === undefined;
  if (state.ending.approved === true && isAnswered) {
    return refuse('decided', 'An operator has already decided how the task ends.');
  }
  return change({ state: { at: 'review', ...question } });
}

/** Explains why an operator cannot accept the charge. Undefined if an operator can. */
export const unacceptable: Readonly<Record<Question['why'], string | undefined>> = {
  above_hold: undefined,
  beyond_request: undefined,
  contradictory: undefined,
  unwritable: 'The charge is larger than the ledger can store. Use `complete` with other facts, or `fail`.',
  unsettled: 'There is no charge to accept. Use `retry_now`, `complete` with other facts, or `fail`.',
  unreleased: 'The task is failing, so there is no charge to accept. Use `retry_now` or `fail`.',
};

export function approved({ state }: In<'review'>): Next {
  const problem = unacceptable[state.why];
  if (problem !== undefined) return refuse('not_now', problem);
  const accepted = 'charge' in state ? state.charge : undefined;
  return change({
    state: { at: 'ending', ending: { kind: 'succeeded', approved: true, ...defined({ accepted }) } },
  });
}

/** Used after a missing key has been supplied or the ledger has been repaired. */
export function settledAgain(review: StateOf<'review'>): Next {
  if ('charge' in review)
    return refuse('not_now', 'The charge awaits an operator’s decision. Retrying would not change that.');
  const ending: Ending =
    review.why === 'unsettled'
      ? { kind: 'succeeded' }
      : { kind: 'failed', ...defined({ error: review.error }) };
  return change({ state: { at: 'ending', ending } });
}
