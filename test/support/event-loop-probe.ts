import { renameSync, writeFileSync } from 'node:fs';

/** What the file holds. */
export interface Probe {
  /** How often the measurement was begun anew, and how often the file was written since. */
  readonly begun: number;
  readonly written: number;
  readonly longestStallMs: number;
  readonly peakBytes: number;
}

/**
 * Loaded before a program (`--import`): writes what its event loop and memory went through to PROBE_FILE, several times a
 * second. A stall is the time between two turns of a timer, or the CPU time that the process used meanwhile, whichever
 * is less: on a busy machine a process may wait for its turn without having done anything.
 */
const everyMs = 5;
const file = process.env['PROBE_FILE'] ?? '';
let last = performance.now();
let cpu = process.cpuUsage();
let begun = 0;
let written = 0;
let longestStallMs = 0;
let peakBytes = 0;

setInterval(() => {
  const now = performance.now();
  const used = process.cpuUsage(cpu);
  const cpuMs = (used.user + used.system) / 1000;
  longestStallMs = Math.max(longestStallMs, Math.min(now - last - everyMs, cpuMs));
  last = now;
  cpu = process.cpuUsage();
}, everyMs).unref();

setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
  written += 1;
  // Whoever reads it never sees half of it.
  writeFileSync(`${file}.new`, JSON.stringify({ begun, written, longestStallMs, peakBytes }));
  renameSync(`${file}.new`, file);
}, 200).unref();

/** What went before is of no interest any more. */
process.on('SIGUSR2', () => {
  begun += 1;
  written = 0;
  longestStallMs = 0;
  peakBytes = 0;
});
