import { renameSync, writeFileSync } from 'node:fs';

/** What the file holds. Bytes: resident. */
export interface Probe {
  /** How often the measurement was begun anew, and how often the file was written since. */
  readonly begun: number;
  readonly written: number;
  readonly longestStallMs: number;
  /** When it was begun, after garbage was collected. */
  readonly idleBytes: number;
  readonly peakBytes: number;
  /** What JavaScript holds, on its heap and beside it, garbage included. */
  readonly peakHeapBytes: number;
}

/**
 * Loaded before a program (`--import`, with `--expose-gc`): writes what its event loop and memory went through to
 * PROBE_FILE, many times a second. A stall is the time between two turns of a timer, or the CPU time that the process
 * used meanwhile, whichever is less: on a busy machine a process may wait for its turn without having done anything.
 */
const everyMs = 5;
const writtenEveryMs = 50;
/** Memory of what was collected goes back to the system in threads of their own. */
const releasedWithinMs = 100;
const file = process.env['PROBE_FILE'] ?? '';
let last = performance.now();
let cpu = process.cpuUsage();
let probe: Probe = begin(0);

function begin(begun: number): Probe {
  last = performance.now();
  cpu = process.cpuUsage();
  const { rss } = process.memoryUsage();
  return { begun, written: 0, longestStallMs: 0, idleBytes: rss, peakBytes: rss, peakHeapBytes: 0 };
}

setInterval(() => {
  const now = performance.now();
  const used = process.cpuUsage(cpu);
  const cpuMs = (used.user + used.system) / 1000;
  const { rss, heapUsed, external } = process.memoryUsage();
  probe = {
    ...probe,
    longestStallMs: Math.max(probe.longestStallMs, Math.min(now - last - everyMs, cpuMs)),
    peakBytes: Math.max(probe.peakBytes, rss),
    peakHeapBytes: Math.max(probe.peakHeapBytes, heapUsed + external),
  };
  last = now;
  cpu = process.cpuUsage();
}, everyMs).unref();

setInterval(() => {
  probe = { ...probe, written: probe.written + 1 };
  // Whoever reads it never sees half of it.
  writeFileSync(`${file}.new`, JSON.stringify(probe));
  renameSync(`${file}.new`, file);
}, writtenEveryMs).unref();

/** What went before is of no interest any more. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  setTimeout(() => (probe = begin(probe.begun + 1)), releasedWithinMs);
});
