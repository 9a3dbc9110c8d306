import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { rawEnvironment } from '../../src/config/environment.ts';

/** Lets the newest Node SDKs drive the simulator and the gateway. */

/** `ai` calls the `@ai-sdk` providers. */
export const drivers = [
  'openai',
  '@google/genai',
  '@fal-ai/client',
  'replicate',
  '@runwayml/sdk',
  '@openrouter/sdk',
  '@ai-sdk/bytedance',
  '@ai-sdk/openai-compatible',
  'ai',
] as const;

/** These tests drive OpenAI's videos, which openai 7 has dropped. They keep using the project's version. */
export const olderOpenai = ['test/http/dialects.test.ts', 'test/clients/lost-answers.test.ts'];

/** Tests that fail with the newest SDK for a known reason. `npm test` runs them with the project's version. */
export const knownFailures = [
  { test: "'@google/genai, Veo'", reason: '@google/genai 3 creates videos of Veo on Vertex AI only' },
];

export const sdkTests = [
  'test/workshop/simulator/vendors-sdks.test.ts',
  'test/workshop/simulator/dialects/openai.test.ts',
  'test/http/dialects.test.ts',
  'test/images/dialects.test.ts',
  'test/images/clients.test.ts',
  'test/clients/lost-answers.test.ts',
];

/** The oldest Node that all newest SDKs accept, and the one to install if the running one is older. */
const nodeNeeded = 22;
const nodeInstalled = 24;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns one line per failure. The SDKs are installed in `folder`, and the simulator listens at `url`. */
export function driveNewest(folder: string, url: string): string[] {
  const node = nodeIn(folder);
  const walks = spawnSync(node, [join(root, 'workshop/vendor-sdks/ai-sdk-walks.mjs'), folder, url], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const mistakes = walks.stdout.split('\n').filter((line) => line !== '');
  const ended = walks.status === 0 ? [] : [`ai-sdk-walks.mjs ended with ${walks.status}`];
  return [...mistakes, ...ended, ...runTests(node, folder)];
}

/** Node resolves a package from the importing file's location. */
export const resolverFile = 'resolve.mjs';

function runTests(node: string, folder: string): string[] {
  writeFileSync(join(folder, resolverFile), 'export const resolve = (name) => import.meta.resolve(name);\n');
  const report = join(folder, 'tests.json');
  const words = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config=workshop/vendor-sdks/newest-vitest.config.ts',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...sdkTests,
  ];
  const { status } = spawnSync(node, words, {
    cwd: root,
    env: { ...rawEnvironment(), NEWEST_SDKS: folder },
    // The list of differences is read from this command's stdout.
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  if (!existsSync(report)) return [`the tests of SDKs for Node did not run: status ${status}`];
  return failuresIn(readFileSync(report, 'utf8'));
}

function nodeIn(folder: string): string {
  const [major = ''] = process.versions.node.split('.');
  if (Number(major) >= nodeNeeded) return process.execPath;
  const words = ['install', '--no-audit', '--no-fund', '--no-save', '--silent'];
  // The package's install script puts the program in place.
  const script = ['--ignore-scripts=false', '--prefix', join(folder, 'node'), `node@${nodeInstalled}`];
  execFileSync('npm', [...words, ...script], { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(folder, 'node/node_modules/.bin/node');
}

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** Reads a Vitest report. */
export function failuresIn(report: string): string[] {
  const { testResults } = reportSchema.parse(JSON.parse(report));
  const files = testResults.map(({ name }) => name);
  const missing = sdkTests.filter((path) => !files.some((name) => name.endsWith(path)));
  return [
    ...missing.map((path) => `${path} did not run`),
    ...testResults.flatMap(({ name, status, message, assertionResults }) => {
      const path = sdkTests.find((one) => name.endsWith(one)) ?? name;
      const all = assertionResults.filter((one) => one.status === 'failed');
      const failed = all.filter(({ fullName }) => !knownFailures.some(({ test }) => fullName.includes(test)));
      if (all.length === 0 && status === 'failed') return [`${path}: ${firstLine(message)}`];
      return failed.map((one) => `${path}: ${one.fullName}: ${firstLine(one.failureMessages?.[0] ?? '')}`);
    }),
  ];
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
