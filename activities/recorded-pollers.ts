import type { RouteCandidate } from '../src/domain/routing.ts';
import type { TaskKind } from '../src/domain/task.ts';
import { jobOf } from '../src/flight/exchange-recorder.ts';
import type { ExchangeRecorder } from '../src/flight/exchange-recorder.ts';
import type { PolledJob } from './poll-questions.ts';
import type { StatusPoller } from './status-poller.ts';

type Pollers = (candidate: RouteCandidate, kind: TaskKind) => StatusPoller;

/**
 * While a job is polled, what is exchanged about it is recorded for its task. The adapter behind a poller, which may be
 * asked about many jobs at once, does not know whose they are.
 */
export function recordedPollers(pollers: Pollers, recorder: Pick<ExchangeRecorder, 'own'>): Pollers {
  return (candidate, kind) => {
    const poller = pollers(candidate, kind);
    return {
      ...poller,
      async status(job, signal) {
        const disown = ownJob(job, candidate, recorder);
        try {
          return await poller.status(job, signal);
        } finally {
          disown();
        }
      },
    };
  };
}

function ownJob(
  { task, operation }: PolledJob,
  { channel }: RouteCandidate,
  recorder: Pick<ExchangeRecorder, 'own'>,
) {
  return task === undefined ? () => undefined : recorder.own(jobOf(channel, operation), task);
}
