import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildServer } from '../../src/local/servers/process.ts';

export interface Victim {
  readonly name: string;
  isBusy(): boolean;
  kill(awayMs: number): Promise<void>;
  suspend(awayMs: number): Promise<void>;
  /** Sends SIGHUP. A process that is still starting does not need the signal, because it reads the new file anyway. */
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

/** On Linux, SIGHUP is the lowest bit of the signal mask. Other systems are assumed to handle the signal. */
async function listensToReload(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return mask === undefined || BigInt(`0x${mask}`) % 2n === 1n;
}
