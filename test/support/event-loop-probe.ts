import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';

/** What the file contains. Byte counts are resident memory. */
export interface Probe {
  /** How often the measurement has begun, and how often the file has been written since then. */
  readonly begun: number;
  readonly written: number;
  readonly longestStallMs: number;
  /** Measured as the measurement begins, after a garbage collection. */
  readonly idleBytes: number;
  readonly peakBytes: number;
  /** JavaScript memory on and off the heap, including garbage. */
  readonly peakHeapBytes: number;
}

/**
 * Loaded before a program (`--import`, with `--expose-gc`). Writes the state of its event loop and memory to PROBE_FILE
 * many times a second. A stall is the time between two ticks of a timer or the event-loop thread's CPU time meanwhile,
 * whichever is less, because on a busy machine a thread may simply wait for a core.
 */
const everyMs = 5;
const writtenEveryMs = 50;
/** Threads need up to this long to return collected garbage to the system. */
const releasedWithinMs = 100;
const file = process.env['PROBE_FILE'] ?? '';
const threadClock = openThreadClock();
let last = performance.now();
let cpu = cpuMs();
let probe: Probe = begin(0);

/** Linux measures CPU time per thread. `self` is the thread that started the process. */
function openThreadClock(): number | undefined {
  try {
    return openSync('/proc/self/schedstat', 'r');
  } catch {
    return undefined;
  }
}

/** The CPU time of the event loop's thread or, without figures per thread, of the whole process. */
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
  // Renames a finished file, so that no reader sees a partial one.
  writeFileSync(`${file}.new`, JSON.stringify(probe));
  renameSync(`${file}.new`, file);
}, writtenEveryMs).unref();

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  setTimeout(() => (probe = begin(probe.begun + 1)), releasedWithinMs);
});
