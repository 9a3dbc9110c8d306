import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The absolute paths of the test files in each vitest project. */
export interface TestProjects {
  readonly pure: readonly string[];
  /** Files that import test/support/server-use.ts, directly or indirectly. */
  readonly servers: readonly string[];
}

/** Tests of parts that can behave differently in different Node versions. `npm run test:node` runs only these. */
const nodeParts = [
  // Outbound requests use sockets, TLS, name lookups and undici.
  'http-client/',
  // The server uses Node's HTTP parser and streams.
  'http/bodies/',
  'http/hostile-callers.test.ts',
  'http/protocol.test.ts',
  'http/server.test.ts',
  'images/image-parts.test.ts',
  'local/servers/ui-proxy.test.ts',
  'workshop/simulator/faults.test.ts',
  'observability/',
  'results/copy-file.test.ts',
  'results/storage.test.ts',
  // Pauses use Node's timers.
  'workshop/simulator/clock.test.ts',
  // Node loads TypeScript, starts processes and handles their signals and exits. The published package contains only
  // JavaScript.
  'workshop/package.test.ts',
  'cli/start-up.test.ts',
  'config/reload-signal.test.ts',
  'local/servers/close-on-signal.test.ts',
  'local/servers/process.test.ts',
  // Ciphers, signatures and keys come from node:crypto.
  'access/sealer.test.ts',
  'access/tokens.test.ts',
  'providers/fal/fal-callback.test.ts',
  'temporal/payload-codec.test.ts',
  // Temporal's core is native code, and the workflow sandbox uses node:vm.
  'temporal/connection.test.ts',
  'temporal/workflow-bundle.test.ts',
  'workflows/replay.test.ts',
  // The media probe runs in a thread, which has its own module loader.
  'media/media-probe.test.ts',
  // The MongoDB driver uses sockets.
  'store/mongo.test.ts',
  'store/unfinished-writes.test.ts',
];

/** Keeps only the files in `nodeParts`. Throws if an entry matches no test file. */
export function onlyNodeParts(directory: string, { pure, servers }: TestProjects): TestProjects {
  const isPart = (file: string, part: string): boolean => file.startsWith(join(directory, part));
  const gone = nodeParts.filter((part) => ![...pure, ...servers].some((file) => isPart(file, part)));
  if (gone.length > 0)
    throw new Error(`nodeParts of test/support/projects.ts: no test has ${gone.join(', ')}`);
  const select = (files: readonly string[]) =>
    files.filter((file) => nodeParts.some((part) => isPart(file, part)));
  return { pure: select(pure), servers: select(servers) };
}

export function assignTestFiles(directory: string, marker: string): TestProjects {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(directory, file))
    .toSorted();
  const reaches = createReach(directory, join(directory, marker));
  return { pure: files.filter((file) => !reaches(file)), servers: files.filter((file) => reaches(file)) };
}

function createReach(directory: string, marker: string): (file: string) => boolean {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known !== undefined) return known;
    const found = importedFiles(file).filter(
      // Skip a missing file. The test that imports it fails with a clear error.
      (path) => path.startsWith(directory) && existsSync(path),
    );
    imports.set(file, found);
    return found;
  };
  return (file) => {
    const seen = new Set([file]);
    for (const at of seen) for (const next of importsOf(at)) seen.add(next);
    return seen.has(marker);
  };
}

/** Reads import and export statements (except `import type`) and `import('./literal.ts')`. */
function importedFiles(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const statements = text.matchAll(
    /^(?:import|export)\s+(?!type\b)[^;]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  );
  return [...statements].map(([, from, bare, dynamic]) =>
    resolve(dirname(file), from ?? bare ?? dynamic ?? ''),
  );
}
