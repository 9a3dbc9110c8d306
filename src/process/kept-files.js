import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Caches what one start computes for later starts. Plain JavaScript, because it also caches compiled TypeScript. */

const root = new URL('../../node_modules/.cache/', import.meta.url);

/**
 * The name must contain a hash of everything that affects the content.
 * @param {string} name
 */
export function keptPath(name) {
  return fileURLToPath(new URL(name, root));
}

/** @param {string} path */
export function readKept(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Several processes may write the same file at the same time. If the directory is not writable, nothing is cached and
 * each start takes longer.
 * @param {string} path
 * @param {string} text
 */
export function keep(path, text) {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const draft = `${path}.${randomUUID()}`;
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch {}
}
