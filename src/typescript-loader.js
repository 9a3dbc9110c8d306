import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keep, keptPath, readKept } from './process/kept-files.js';

/**
 * Hooks of Node 20 for a checkout: replaces the types of a TypeScript file by blanks, as newer versions of Node
 * do, and keeps the result. Lines and columns stay the same, so no source map is needed. SWC is loaded only for
 * a file that has changed.
 */

/** Raise it with the version of SWC or the options below. Kept files of another format are compiled again. */
const format = 2;

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  return { format: 'module', source: await withoutTypes(fileURLToPath(url)), shortCircuit: true };
}

/** @param {string} file */
async function withoutTypes(file) {
  const { mtimeMs, size } = statSync(file);
  const stamp = `\n// ${format} ${mtimeMs} ${size}\n`;
  const path = keptPath(`typescript/${createHash('sha1').update(file).digest('hex')}.js`);
  const known = readKept(path);
  if (known?.endsWith(stamp) === true) return known;
  const { transformSync } = await import('@swc/wasm-typescript');
  const { code } = transformSync(readFileSync(file, 'utf8'), { filename: file, mode: 'strip-only' });
  keep(path, code + stamp);
  return code;
}
