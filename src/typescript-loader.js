import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keep, keptPath, readKept } from './process/kept-files.js';

/**
 * Module hooks for a checkout on Node 20. Like newer versions of Node, they replace the types in a TypeScript file with
 * blanks, so that lines and columns stay the same and no source map is needed. The result is cached, so SWC is loaded
 * only if a file has changed.
 */

/**
 * Increase this when the SWC version or the options below change, so that files are compiled again instead of being
 * taken from the cache.
 */
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
