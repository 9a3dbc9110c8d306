import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { assignTestFiles, onlyNodeParts } from './test/support/projects.ts';
import { MixedOrder } from './test/support/mixed-order.ts';

/**
 * These files run only on request, because they write docs/images and the histories that test/workflows/replay.test.ts
 * reads.
 */
const recording = [
  ...(process.env['RECORD_HISTORIES'] === undefined ? [] : ['test/workflows/record-histories.ts']),
  ...(process.env['SCREENSHOTS'] === undefined ? [] : ['test/pages/record-pictures.ts']),
];

const everyFile = [
  'test/support/note-cpu.ts',
  'test/support/property-seed.ts',
  'test/support/expect-error-listeners.ts',
];

const runsTypeScript = 'typescript' in process.features && process.features.typescript === 'strip';

const testDir = fileURLToPath(new URL('test', import.meta.url));
const all = assignTestFiles(testDir, 'support/server-use.ts');
const { pure, servers } = process.env['NODE_PARTS'] === undefined ? all : onlyNodeParts(testDir, all);

export default defineConfig({
  test: {
    pool: 'forks',
    // A test with servers mostly waits for renders, timeouts and retries, and uses a fifth of a core. Six concurrent
    // tests therefore leave two cores half idle (test/support/mixed-order.ts). Each worker uses up to 600 MB.
    maxWorkers: 10,
    // Test files in the same process share loaded modules, because loading takes longer than many files run.
    isolate: false,
    // Newer versions of Node run TypeScript themselves, which saves a sixth of the CPU. On Node 20, vitest compiles each
    // module once and caches it below node_modules.
    experimental: runsTypeScript ? { viteModuleRunner: false } : { fsModuleCache: true },
    sequence: { sequencer: MixedOrder },
    // These limits exist only to make a hung test fail. They are far above the longest legitimate waits on a busy
    // machine. If the server loses an activity before a worker receives it, the heartbeat timeout and the retry alone
    // take 80 s.
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
