import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readChanges } from './changelog.ts';

/**
 * `npm run check:compatible [-- BASE]`: fails if docs/openapi.json breaks clients of the document at commit BASE,
 * unless a file of kind `breaking` in changes/ announces the change. BASE defaults to the last release. oasdiff decides
 * what breaks a client. It comes from PATH, or is built with Go in the version below.
 */

const oasdiff = 'github.com/oasdiff/oasdiff@v1.38.0';
const root = fileURLToPath(new URL('..', import.meta.url));
const document = 'docs/openapi.json';

process.exitCode = check(process.argv[2] ?? lastRelease());

function check(base: string | undefined): number {
  if (base === undefined) return say('There is no release yet, so nothing can be incompatible with it.', 0);
  const changes = breakingChanges(base);
  if (changes === '') return say(`${document} is compatible with ${base}.`, 0);
  process.stdout.write(changes);
  if (readChanges().some(({ kind }) => kind === 'breaking'))
    return say('A file in changes/ announces breaking changes.', 0);
  return say(
    `${document} breaks clients of ${base}. Restore compatibility, or add changes/NAME.breaking.md.`,
    1,
  );
}

function breakingChanges(base: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'mediary-compatible-'));
  try {
    const before = join(directory, 'openapi.json');
    writeFileSync(before, git('show', `${base}:${document}`));
    const args = ['breaking', '--fail-on', 'ERR', before, join(root, document)];
    const installed = spawnSync('oasdiff', ['--version']).status === 0;
    const [program, ...first] = installed ? ['oasdiff'] : ['go', 'run', oasdiff];
    const { error, status, stdout, stderr } = spawnSync(program, [...first, ...args], { encoding: 'utf8' });
    if (error !== undefined)
      throw new Error('oasdiff is missing: install it, or install Go to build it', { cause: error });
    if (status === 0) return '';
    if (!stdout.includes('error')) throw new Error(`oasdiff ended with ${status}: ${stderr}`);
    return stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function lastRelease(): string | undefined {
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split('\n');
  return tags.find((tag) => tag !== '');
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function say(text: string, status: number): number {
  process.stdout.write(`${text}\n`);
  return status;
}
