import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { assignTestFiles } from './test/support/projects.ts';

/** Not part of a run: they write the histories and the task records that the replay tests read. */
const recording = [
  ...(process.env['RECORD_HISTORIES'] === undefined ? [] : ['test/workflows/record-histories.ts']),
  ...(process.env['RECORD_TASKS'] === undefined ? [] : ['test/replay/record-tasks.ts']),
];

const { pure, servers } = assignTestFiles(
  fileURLToPath(new URL('test', import.meta.url)),
  'support/server-use.ts',
);

export default defineConfig({
  test: {
    pool: 'forks',
    // Tests wait for timers and servers much of their time: three keep two cores busy.
    maxWorkers: 3,
    testTimeout: 60_000,
    // What never comes fails all the same; a second, the default, is shorter than a busy machine's pauses.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    projects: [
      // Its files share what they load, which takes longer than most of them run.
      { extends: true, test: { name: 'pure', include: [...pure], isolate: false } },
      {
        extends: true,
        test: {
          name: 'servers',
          include: [...servers, ...recording],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/expect-server-use.ts', 'test/support/watch-queries.ts'],
        },
      },
    ],
  },
});
