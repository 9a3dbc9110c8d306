import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Every program of the project that a person waits for: what it loads before it does anything. */

const project = fileURLToPath(new URL('../..', import.meta.url));
const staticImport = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm;

/** Files of ours and packages that are loaded when `file` is, however deep; what `import()` fetches later is not. */
function loadedBy(file: string, known = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(join(project, file), 'utf8').matchAll(staticImport)) {
    const target = name.startsWith('.') ? relative(project, join(project, dirname(file), name)) : name;
    if (known.has(target)) continue;
    known.add(target);
    if (name.startsWith('.')) loadedBy(target, known);
  }
  return known;
}

describe('the command line', () => {
  it('loads nothing for --help but commander and its own table', () => {
    const loaded = [...loadedBy('src/cli.ts')].filter((name) => !name.startsWith('node:'));
    expect(loaded.toSorted()).toEqual([
      'commander',
      'src/cli/command-error.ts',
      'src/cli/commands.ts',
      'src/config/config-error.ts',
      'src/config/reload-signal.ts',
    ]);
  });

  it('does not import local mode', () => {
    const commands = readFileSync(join(project, 'src/cli.ts'), 'utf8');
    const all = [...commands.matchAll(/import\('(\.[^']+)'\)/g)].map(([, name = '']) => join('src', name));
    const reached = new Set(all.flatMap((file) => [file, ...loadedBy(file)]));
    expect([...reached].filter((name) => name.startsWith('src/local'))).toEqual([]);
    expect(reached).toContain('src/config/local-mode.ts');
  });
});
