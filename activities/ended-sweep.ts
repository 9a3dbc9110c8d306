import { defined } from '../src/domain/defined.ts';
import type { PollPace } from './poll-pace.ts';
import type { createQuestions } from './poll-questions.ts';
import type { StatusPollerOptions } from './status-poller.ts';

/** Between the vendor's clock and ours, and from its acceptance to our knowledge of it. */
const clockSkewMs = 60_000;
/** A job that waits for much longer than most is asked about by its id: the pages reach back to all others. */
const medianAgesMax = 3;
/** Then the sweep begins again, with a time of its own. */
const pagesMax = 50;

export interface SweepDeps {
  readonly options: StatusPollerOptions;
  readonly pace: Pick<PollPace, 'answered' | 'endedRefused'>;
  readonly questions: Pick<ReturnType<typeof createQuestions>, 'takeThese' | 'acceptedAt'>;
}

/** Page by page, what has ended of all that was submitted since those who wait were accepted; and then again. */
export function createEndedSweep({ options, pace, questions }: SweepDeps) {
  const { now, timeoutMs } = options;
  const { listEnded } = options.provider;
  let place: { readonly since: number; readonly cursor: string; readonly pages: number } | undefined;
  let isAsking = false;

  async function askForPage(): Promise<void> {
    const since = place?.since ?? sinceOf(questions.acceptedAt(), now());
    if (listEnded === undefined || since === undefined) return pace.endedRefused();
    isAsking = true;
    try {
      // Jobs of all models, so that none is named.
      const context = options.context('', AbortSignal.timeout(timeoutMs));
      const { jobs, next } = await listEnded({ since, ...defined({ cursor: place?.cursor }) }, context);
      pace.answered(true);
      for (const question of questions.takeThese(jobs)) {
        const status = jobs.get(question.operation.id);
        if (status !== undefined) question.answer(status);
      }
      const pages = (place?.pages ?? 0) + 1;
      place = next === undefined || pages >= pagesMax ? undefined : { since, cursor: next, pages };
    } catch {
      // Nobody has failed by that: the lists, which come in between, find out what is wrong.
      place = undefined;
      pace.endedRefused();
    } finally {
      isAsking = false;
    }
  }

  return {
    /** A page can be asked for now: the one before it has been answered. */
    isReady: (): boolean => listEnded !== undefined && !isAsking,
    askForPage,
  };
}

/** Undefined: nobody knows when any of them was accepted. */
function sinceOf(acceptedAt: readonly number[], now: number): number | undefined {
  if (acceptedAt.length === 0) return undefined;
  const ages = acceptedAt.map((at) => Math.max(0, now - at)).toSorted((a, b) => a - b);
  const median = ages[Math.floor(ages.length / 2)] ?? 0;
  const oldest = ages.findLast((age) => age <= medianAgesMax * median) ?? median;
  return now - oldest - clockSkewMs;
}
