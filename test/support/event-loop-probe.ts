import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';

export interface Probe {
  /**
   * `begun` counts the measurements, including the current one. `written` counts how often the file was written during
   * the current one.
   */
  readonly begun: number;
  readonly written: number;
  readonly longestStallMs: number;
  readonly idleBytes: number;
  readonly peakBytes: number;
  readonly peakHeapBytes: number;
}

/**
 * Loaded before a program (`--import`, with `--expose-gc`). Writes event-loop stalls and memory use to PROBE_FILE many
 * times per second. A stall is the time between two timer ticks. If the event-loop thread used less CPU time than that
 * in between, the CPU time counts instead, because a thread on a busy machine may just be waiting for a core.
 */
const everyMs = 5;
const writtenEveryMs = 50;
/** It may take threads this many milliseconds to return collected garbage to the system. */
const releasedWithinMs = 100;
const file = process.env['PROBE_FILE'] ?? '';
const threadClock = openThreadClock();
let last = performance.now();
let cpu = cpuMs();
let probe: Probe = begin(0);

function openThreadClock(): number | undefined {
  try {
    return openSync('/proc/self/schedstat', 'r');
  } catch {
    return undefined;
  }
}

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
  // Rename the file, which is atomic, so that readers never see part of it.
  writeFileSync(`${file}.new`, JSON.stringify(probe));
  renameSync(`${file}.new`, file);
}, writtenEveryMs).unref();

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  setTimeout(() => (probe = begin(probe.begun + 1)), releasedWithinMs);
});
