import { readFile } from 'node:fs/promises';
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
  /** SIGHUP: read the configuration again. A program that has not reached its first line yet will read it anyway. */
  reload(): Promise<void>;
  end(): Promise<void>;
}

export async function createVictim(
  name: string,
  start: () => Promise<ChildServer>,
  onExit: (sentence: string) => void,
): Promise<Victim> {
  let busy = false;
  let hasEnded = false;
  let child = await restart();

  /** Started again whenever it ends without having been killed, as whoever runs it would. */
  async function restart(): Promise<ChildServer> {
    const started = await start();
    if (hasEnded) await started.kill();
    void started.exited.then(async (how) => {
      if (busy || hasEnded) return;
      onExit(`${name} ${how}`);
      child = await restart();
    });
    return started;
  }

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
        child = await restart();
      }),
    suspend: (awayMs) =>
      during(async () => {
        process.kill(child.pid, 'SIGSTOP');
        await delay(awayMs);
        process.kill(child.pid, 'SIGCONT');
      }),
    async reload() {
      if (busy || child.hasExited() || !(await listensToReload(child.pid))) return;
      process.kill(child.pid, 'SIGHUP');
    },
    async end() {
      hasEnded = true;
      if (!child.hasExited()) await child.kill();
    },
  };
}

/** The mask of caught signals, as Linux shows it: SIGHUP is its lowest bit. Elsewhere every program is taken to listen. */
async function listensToReload(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return mask === undefined || BigInt(`0x${mask}`) % 2n === 1n;
}
