import { rescueCandidates } from '../../src/task/rescue.ts';
import type { Fallback } from '../../src/task/rescue.ts';
import type { ReplayedCalls, Verdict } from './replay-money.ts';
import type { FlightRecord } from '../../src/flight/flight-record.ts';

type Attempt = FlightRecord['attempts'][number];

/** Decides again, for each job that failed or was refused, whether and where the task continues. */
export function replayRescue({ record, outcomes }: ReplayedCalls): Verdict {
  const { plan, attempts, task } = record;
  const differences = [...classDifference(record, outcomes)];
  const fallback = plan?.fallback;
  if (fallback === undefined) return { differences, notes: [] };
  const closed = attempts.filter(({ state }) => state === 'failed' || state === 'rejected');
  for (const attempt of closed) {
    const next = candidatesAfter(attempt, { record, fallback });
    const later = attempts.filter(({ n }) => n > attempt.n);
    const isPlanned = later.some(({ channel }) => next.includes(channel));
    if (later.length > 0 && !isPlanned) {
      differences.push(
        `After attempt ${attempt.n} the task continued at ${later.map(({ channel }) => channel).join(', ')}; ` +
          `today it ${next.length === 0 ? 'would end' : `would continue at ${next.join(', ')}`}.`,
      );
    }
    if (later.length === 0 && next.length > 0 && task.status === 'failed' && record.actions.length === 0) {
      differences.push(
        `After attempt ${attempt.n} the task ended; today it would continue at ${next.join(', ')}.`,
      );
    }
  }
  return { differences, notes: [] };
}

function candidatesAfter(
  attempt: Attempt,
  { record, fallback }: { readonly record: FlightRecord; readonly fallback: Fallback },
): string[] {
  if (attempt.class === null) return [];
  const before = record.attempts.filter(
    ({ n, state }) => n < attempt.n && (state === 'failed' || state === 'rejected'),
  );
  const next = rescueCandidates(fallback, {
    class: attempt.class,
    channels: [...before, attempt].map(({ channel }) => channel),
    remainingMs: (record.task.deadline_at - (attempt.ended_at ?? attempt.started_at)) * 1000,
  });
  return next.map(({ channel }) => channel);
}

/** The class of a failed task is that of the upstream's last word. */
function* classDifference({ task }: FlightRecord, outcomes: ReplayedCalls['outcomes']): Iterable<string> {
  if (task.error?.code !== 'provider_error' || task.error.class === null) return;
  const last = outcomes.findLast(
    (outcome) => outcome.kind === 'failed' || (outcome.kind === 'error' && outcome.outcome === 'rejected'),
  );
  if (last === undefined || !('class' in last) || last.class === task.error.class) return;
  yield `The task failed as ${task.error.class}; today it fails as ${last.class}.`;
}
