import type { Probe } from '../../test/support/event-loop-probe.ts';
import type { Attack } from './scene.ts';
import type { VictimReport } from './victim-report.ts';

export interface Outcome {
  readonly attack: Attack;
  readonly statuses: Readonly<Record<string, number>>;
  readonly victim: VictimReport;
  readonly alone: VictimReport;
  readonly probe: Probe | undefined;
  readonly end?: string;
}

const mebibyte = 1024 * 1024;
const stallMsMax = 50;
const slowerMax = 3;
const growthBytesMax = 100 * mebibyte;
/** The default of BODIES_BYTES_MAX, which limits the memory for callers' bodies. */
const bodiesBytesMax = 160 * mebibyte;
const allowedServerError = '503';

export function problemsOf(outcome: Outcome, isStrict: boolean): readonly string[] {
  const { attack, statuses, victim, alone, probe, end } = outcome;
  const allowed = growthBytesMax + (attack.hasBodies ? bodiesBytesMax : 0);
  return [
    end,
    Object.keys(statuses).some((status) => status.startsWith('5') && status !== allowedServerError)
      ? '5xx'
      : undefined,
    victim.refused > 0 ? 'victim' : undefined,
    growthOf(probe) > allowed ? 'growth' : undefined,
    isStrict && (probe?.longestStallMs ?? 0) > stallMsMax ? 'stall' : undefined,
    isStrict && victim.worst.ms > slowerMax * alone.worst.ms ? 'slow' : undefined,
  ].filter((problem) => problem !== undefined);
}

const growthOf = (probe: Probe | undefined): number =>
  probe === undefined ? 0 : probe.peakBytes - probe.idleBytes;

const columns = [
  { title: 'attack', width: 48 },
  { title: 'answers', width: 34 },
  { title: 'stall ms', width: 8 },
  { title: 'healthz ms', width: 10 },
  { title: 'callback ms', width: 11 },
  { title: 'growth MiB', width: 10 },
  { title: 'heap MiB', width: 8 },
  { title: 'victim', width: 32 },
  { title: 'alone', width: 32 },
  { title: '', width: 0 },
] as const;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, n) => cell.padEnd(columns[n]?.width ?? 0))
    .join('  ')
    .trimEnd();

export const header = line(columns.map(({ title }) => title));

function wordsOf({ worst, refused, answered, medianMs }: VictimReport): string {
  const share = answered === 0 ? 0 : Math.floor((100 * (answered - refused)) / answered);
  const times = `${worst.ms.toFixed(0)} ms, median ${medianMs.toFixed(0)}`;
  return `${share} %, ${worst.what} ${worst.status} ${times}`;
}

export function row(outcome: Outcome, isStrict: boolean): string {
  const { attack, statuses, victim, probe } = outcome;
  const { healthMs, callbackMs } = victim;
  const problems = problemsOf(outcome, isStrict);
  return line([
    attack.name,
    Object.entries(statuses)
      .map(([status, count]) => `${status}×${count}`)
      .join(' '),
    probe === undefined ? '' : probe.longestStallMs.toFixed(0),
    healthMs.toFixed(0),
    callbackMs.toFixed(0),
    probe === undefined ? '' : (growthOf(probe) / mebibyte).toFixed(0),
    probe === undefined ? '' : (probe.peakHeapBytes / mebibyte).toFixed(0),
    wordsOf(victim),
    wordsOf(outcome.alone),
    problems.length === 0 ? 'ok' : `FAILED: ${problems.join(', ')}`,
  ]);
}
