import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/**
 * Lets a process import TypeScript: `node --import ./src/typescript.js FILE`. Newer versions of Node strip the types
 * themselves and cache the compiled code. Older versions use hooks that do both at half the CPU cost of tsx. The npm
 * package contains only JavaScript (`workshop/package.ts`) and needs neither.
 */
/** @type {unknown} */
const keepCompiled = Reflect.get(module, 'enableCompileCache');
if (typeof keepCompiled === 'function') {
  Reflect.apply(keepCompiled, module, [
    fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)),
  ]);
}
const isCompiled = !existsSync(new URL('cli.ts', import.meta.url));
if (!isCompiled && (!('typescript' in process.features) || process.features.typescript === false)) {
  // Limit the heap of the hooks' thread, which would otherwise keep 10 MB that it needs only at startup.
  setFlagsFromString('--max-semi-space-size=1');
  module.register('./typescript-loader.js', import.meta.url);
  // Restore V8's default, which is 0. The heap of the hooks' thread stays limited.
  setFlagsFromString('--max-semi-space-size=0');
}
