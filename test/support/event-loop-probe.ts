import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';

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
 * PROBE_FILE, many times a second. A stall is the time between two turns of a timer, or the CPU time that the thread of
 * the event loop used meanwhile, whichever is less: on a busy machine it may wait for its turn without having done
 * anything.
 */
const everyMs = 5;
const writtenEveryMs = 50;
/** Memory of what was collected goes back to the system in threads of their own. */
const releasedWithinMs = 100;
const file = process.env['PROBE_FILE'] ?? '';
const threadClock = openThreadClock();
let last = performance.now();
let cpu = cpuMs();
let probe: Probe = begin(0);

/** Linux counts for each thread: `self` is the one that began the process. */
function openThreadClock(): number | undefined {
  try {
    return openSync('/proc/self/schedstat', 'r');
  } catch {
    return undefined;
  }
}

/** Of the event loop's thread; where only the process is counted, of all its threads. */
function cpuMs(): number {
  if (threadClock === undefined) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const text = Buffer.alloc(64);
  const length = readSync(threadClock, text, 0, text.length, 0);
  return Number.parseInt(text.toString('latin1', 0, length), 10) / 1e6;
}

function begin(begun: number): Probe {
  last = performance.now();
  cpu = cpuMs();
  const { rss } = process.memoryUsage();
  return { begun, written: 0, longestStallMs: 0, idleBytes: rss, peakBytes: rss, peakHeapBytes: 0 };
}

setInterval(() => {
  const now = performance.now();
  const usedMs = cpuMs() - cpu;
  const { rss, heapUsed, external } = process.memoryUsage();
  probe = {
    ...probe,
    longestStallMs: Math.max(probe.longestStallMs, Math.min(now - last - everyMs, usedMs)),
    peakBytes: Math.max(probe.peakBytes, rss),
    peakHeapBytes: Math.max(probe.peakHeapBytes, heapUsed + external),
  };
  last = now;
  cpu = cpuMs();
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
