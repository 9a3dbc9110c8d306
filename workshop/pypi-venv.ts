import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from './stand/stand.ts';

export function installFromPypi(name: string, packages: readonly string[]): string {
  const venv = join(cacheDir, name);
  const complete = join(venv, 'complete');
  const programs = join(venv, 'bin');
  if (existsSync(complete)) return programs;
  const pip = ['install', '--quiet', '--disable-pip-version-check', ...packages];
  try {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' });
    execFileSync(join(programs, 'pip'), pip, { stdio: 'inherit' });
  } catch (cause) {
    const what = packages.join(', ').replaceAll('==', ' ');
    throw new Error(`${what} could not be installed: it needs python3 with venv and pip, and PyPI`, {
      cause,
    });
  }
  writeFileSync(complete, '');
  return programs;
}
