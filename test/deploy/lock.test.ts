import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readRepositoryFile } from './compose-file.ts';

const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        resolved: z.string().optional(),
        integrity: z.string().optional(),
        optionalDependencies: z.record(z.string(), z.string()).optional(),
      }),
    ),
  })
  .parse(JSON.parse(readRepositoryFile('package-lock.json')));
const entries = Object.entries(lock.packages);
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * `npm install` leaves an optional package, such as a native build for another platform, out of the lock file if the
 * registry in use lacks it. `npm ci` then rejects that lock file everywhere.
 */
describe('package-lock.json', () => {
  it('names every optional package, whatever the platform', () => {
    const named = new Set(entries.map(([path]) => nameOf(path)));
    const optional = entries.flatMap(([, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies),
    );
    expect(optional.length).toBeGreaterThan(20);
    expect(optional.filter((name) => !named.has(name))).toEqual([]);
  });

  it('has the integrity of every package', () => {
    const unknown = entries.filter(([path, { integrity }]) => path !== '' && integrity === undefined);
    expect(entries.length).toBeGreaterThan(500);
    expect(unknown.map(([path]) => path)).toEqual([]);
    expect(entries.filter(([, { integrity = 'sha512-' }]) => !integrity.startsWith('sha512-'))).toEqual([]);
  });

  it('names no registry', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});
