import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { assignTestFiles, onlyNodeParts } from './test/support/projects.ts';
import { MixedOrder } from './test/support/mixed-order.ts';

/** Not part of a run: they write the histories that test/workflows/replay.test.ts reads, and docs/images. */
const recording = [
  ...(process.env['RECORD_HISTORIES'] === undefined ? [] : ['test/workflows/record-histories.ts']),
  ...(process.env['SCREENSHOTS'] === undefined ? [] : ['test/pages/record-pictures.ts']),
];

const everyFile = [
  'test/support/note-cpu.ts',
  'test/support/property-seed.ts',
  'test/support/expect-error-listeners.ts',
];

const testDir = fileURLToPath(new URL('test', import.meta.url));
const all = assignTestFiles(testDir, 'support/server-use.ts');
const { pure, servers } = process.env['NODE_PARTS'] === undefined ? all : onlyNodeParts(testDir, all);

export default defineConfig({
  test: {
    pool: 'forks',
    // A test of servers uses a fifth of a core: it waits for renders, timeouts and retries. With six at once, two cores are
    // half idle (test/support/mixed-order.ts). Each takes up to 600 MB.
    maxWorkers: 10,
    // The files that a process runs share what they load: to load it takes longer than many of them run.
    isolate: false,
    // Kept below node_modules, by their content: a second run of one file loads in half the time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: MixedOrder },
    // What never comes fails all the same. Each is far above what the longest legitimate waits of a test add up to on a
    // busy machine: one wait alone is 80 s when the server loses an activity on its way to a worker (the heartbeat of a
    // submission, and its retry).
    testTimeout: 480_000,
    hookTimeout: 480_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: [...pure],
          setupFiles: everyFile,
        },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: [...servers, ...recording],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: [...everyFile, 'test/support/expect-server-use.ts', 'test/support/watch-queries.ts'],
        },
      },
    ],
  },
});
