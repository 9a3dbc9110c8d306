import { setTimeout as delay } from 'node:timers/promises';
import type { ChildServer } from '../../src/local/servers/process.ts';

/** A process that is killed, stopped and started again. */
export interface Victim {
  readonly name: string;
  /** It is away, and nothing else should be done to it. */
  isBusy(): boolean;
  /** SIGKILL; started again after a while, on the same port and data. */
  kill(awayMs: number): Promise<void>;
  /** SIGSTOP, and SIGCONT after a while. */
  suspend(awayMs: number): Promise<void>;
  /** SIGHUP: read the configuration again. */
  reload(): void;
  end(): Promise<void>;
}

export async function createVictim(name: string, start: () => Promise<ChildServer>): Promise<Victim> {
  let child = await start();
  let busy = false;
  const during = async (act: () => Promise<void>): Promise<void> => {
    busy = true;
    try {
      await act();
    } finally {
      busy = false;
    }
  };
  return {
    name,
    isBusy: () => busy,
    kill: (awayMs) =>
      during(async () => {
        await child.kill();
        await delay(awayMs);
        child = await start();
      }),
    suspend: (awayMs) =>
      during(async () => {
        process.kill(child.pid, 'SIGSTOP');
        await delay(awayMs);
        process.kill(child.pid, 'SIGCONT');
      }),
    reload() {
      if (!busy && !child.hasExited()) process.kill(child.pid, 'SIGHUP');
    },
    end: () => (child.hasExited() ? Promise.resolve() : child.kill()),
  };
}
