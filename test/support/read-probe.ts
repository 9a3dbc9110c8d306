import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Probe } from './event-loop-probe.ts';

export interface ProbedProcess {
  readonly pid: number;
  readonly file: string;
  readonly hasExited: () => boolean;
}

const probeSchema = z.object({
  begun: z.number(),
  written: z.number(),
  longestStallMs: z.number(),
  idleBytes: z.number(),
  peakBytes: z.number(),
  peakHeapBytes: z.number(),
});

const lookEveryMs = 20;

export async function beginProbe(probed: ProbedProcess): Promise<() => Promise<Probe>> {
  const before = await probeOnce(probed, () => true);
  if (!probed.hasExited()) process.kill(probed.pid, 'SIGUSR2');
  const { begun } = await probeOnce(probed, (probe) => probe.begun > before.begun && probe.written > 0);
  return async () => {
    // The probe may already be writing what it measured earlier, so wait for the write after that one.
    const { written } = await probeOnce(probed, () => true);
    return probeOnce(probed, (probe) => probe.begun === begun && probe.written > written + 1);
  };
}

async function probeOnce(probed: ProbedProcess, isIt: (probe: Probe) => boolean): Promise<Probe> {
  for (;;) {
    const probe = await readProbe(probed);
    if (probe !== undefined && isIt(probe)) return probe;
    if (probed.hasExited()) throw new Error('the process has ended');
    await delay(lookEveryMs);
  }
}

export async function readProbe({ file }: Pick<ProbedProcess, 'file'>): Promise<Probe | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : probeSchema.parse(JSON.parse(text));
}
