import { walk, type IsOver, type StepTime } from '../src/base/walk.ts';
import { upkeepTimes, type UpkeepName } from '../src/base/upkeep-times.ts';
import { within } from '../src/process/running-time.ts';
import type { TaskActivityDeps, UpkeepStep } from './deps.ts';
import type { ReconcileReport } from './types.ts';

export type RunTimed = <Result>(
  name: UpkeepName,
  isStopped: IsOver,
  run: (time: StepTime) => Promise<Result>,
) => Promise<Result>;

/**
 * Limits how long the caller waits for a step. A step that takes longer continues in the background and does not start
 * again until it has finished.
 */
export function createTimedRuns(now: () => number): RunTimed {
  const running = new Set<UpkeepName>();
  return async (name, isStopped, run) => {
    if (running.has(name)) throw new Error(`the previous run of ${name} has not ended`);
    const { shareMs, lastMs } = upkeepTimes[name];
    const begunAt = now();
    let isLate = false;
    const isPast = (ms: number): boolean => isLate || isStopped() || now() - begunAt >= ms;
    running.add(name);
    const time = { isOver: () => isPast(shareMs), isHalfOver: () => isPast(shareMs / 2) };
    const work = run(time).finally(() => running.delete(name));
    return within(shareMs + lastMs, work, () => {
      isLate = true;
      return new Error(`${name} did not end within ${(shareMs + lastMs) / 1000} s`);
    });
  };
}

/** Must match the interval of the reconciler's Schedule. */
const everyMs = 5 * 60_000;

/** Starts each run with a different step. Otherwise, interrupted runs would always omit the same steps. */
function rotated(steps: readonly UpkeepStep[], at: number): readonly UpkeepStep[] {
  const first = steps.flatMap(({ follows }, index) => (follows === undefined ? [index] : []));
  const start = first[Math.floor(at / everyMs) % first.length] ?? 0;
  return [...steps.slice(start), ...steps.slice(0, start)];
}

export function createUpkeepRunner(
  { upkeep, upkeepFailures, log, now }: Pick<TaskActivityDeps, 'upkeep' | 'upkeepFailures' | 'log' | 'now'>,
  timed: RunTimed,
) {
  const noteFailure = (step: string, count: number): Promise<void> =>
    upkeepFailures
      .note({ step, count })
      .catch((err: unknown) =>
        log.error({ step, err }, 'the failure of an upkeep step could not be recorded'),
      );

  return async (isStopped: IsOver): Promise<ReconcileReport['upkeep']> => {
    const repaired: Record<string, number> = {};
    await walk(rotated(upkeep, now()), {
      loop: 'steps of the upkeep',
      isOver: isStopped,
      async run({ name, run }) {
        const result = await timed(name, isStopped, run);
        const { done, failed } = typeof result === 'number' ? { done: result, failed: 0 } : result;
        repaired[name] = done;
        if (failed > 0) await noteFailure(name, failed);
        return true;
      },
      async onFailed({ name }, err) {
        log.error({ step: name, err }, 'a step of the reconciler failed');
        await noteFailure(name, 1);
      },
    });
    return repaired;
  };
}
