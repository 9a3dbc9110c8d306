import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../base/caught.ts';
import type { Report } from './local-options.ts';
import type { ChildServer } from './process.ts';

const restartDelayMs = 500;
const restartDelayMaxMs = 15_000;
/** In milliseconds. After a process has run for this long, its next restart has the shortest delay again. */
const stableAfterMs = 30_000;

export interface Supervised {
  stop(): Promise<void>;
  readonly pid: () => number | undefined;
}

export function supervise(first: ChildServer, start: () => Promise<ChildServer>, report: Report): Supervised {
  let current: ChildServer | undefined = first;
  let stopping = false;

  const watch = async (): Promise<void> => {
    let waitMs = restartDelayMs;
    while (!stopping) {
      const startedAt = Date.now();
      const end = await current?.exited;
      if (stopping) return;
      if (Date.now() - startedAt > stableAfterMs) waitMs = restartDelayMs;
      report(`${first.name} ${end ?? 'did not start'}; restarting it (its log: ${first.logFile})`);
      await delay(waitMs);
      waitMs = Math.min(waitMs * 2, restartDelayMaxMs);
      if (stopping) return;
      try {
        current = await start();
        if (stopping) await current.stop();
      } catch (error) {
        current = undefined;
        report(messageOf(error));
      }
    }
  };
  const watching = watch();

  return {
    pid: () => (current?.hasExited() === false ? current.pid : undefined),
    async stop() {
      stopping = true;
      await current?.stop();
      await watching;
    },
  };
}
