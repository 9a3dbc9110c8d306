import module from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Lets a process import TypeScript: `node --import ./src/typescript.js src/local.ts`. Newer versions of Node remove the
 * types themselves and keep what they compiled, where the directory may be written; the others need tsx, which alone
 * costs 0.4 s of CPU.
 */
/** @type {unknown} */
const keepCompiled = Reflect.get(module, 'enableCompileCache');
if (typeof keepCompiled === 'function') {
  Reflect.apply(keepCompiled, module, [
    fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)),
  ]);
}
if (!('typescript' in process.features) || process.features.typescript === false) {
  const { register } = await import('tsx/esm/api');
  register();
}
