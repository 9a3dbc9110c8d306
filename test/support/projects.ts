import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Test files by the project that runs them; paths are absolute. */
export interface TestProjects {
  /** Need no server: none is started for them. */
  readonly pure: readonly string[];
  /** Reach test/support/server-use.ts through their imports. */
  readonly servers: readonly string[];
}

/**
 * Assigns every test file below `directory` by what it imports, so that there is no list to maintain. Only relative
 * imports inside `directory` are followed: the product never imports a test's helper.
 */
export function assignTestFiles(directory: string, marker: string): TestProjects {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(directory, file))
    .toSorted();
  const reaches = createReach(directory, join(directory, marker));
  return {
    pure: files.filter((file) => !reaches(file)),
    servers: files.filter((file) => reaches(file)),
  };
}

function createReach(directory: string, marker: string): (file: string) => boolean {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known !== undefined) return known;
    const found = importedFiles(file).filter(
      // What does not exist fails in the test that imports it, with a message of its own.
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

/** Of the file's import and export statements, `import type` left out, and of `import('./literal.ts')`. */
function importedFiles(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const statements = text.matchAll(
    /^(?:import|export)\s+(?!type\b)[^;]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  );
  return [...statements].map(([, from, bare, dynamic]) =>
    resolve(dirname(file), from ?? bare ?? dynamic ?? ''),
  );
}
