import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { keep } from '../process/kept-files.js';
import { bundlePath, modulePath } from './bundle-cache.ts';

// Without the parent process, nobody needs the bundle.
process.once('disconnect', () => process.exit());

const path = await bundlePath();
const { code, ...more } = await bundleWorkflowCode({
  workflowsPath: modulePath('workflows/index'),
  preloadModules: [modulePath('workflows/preload')],
  logger: new DefaultLogger('WARN'),
  // Stack traces need no sources, and a worker would keep a copy of them in each of its threads.
  webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
});
const bundle = { ...more, code: withoutWideCharacters(code) };
keep(path, JSON.stringify(bundle));
process.send?.(bundle);

/** Escapes wide characters. A single one would make V8 use two bytes for every character of the text. */
function withoutWideCharacters(text: string): string {
  return text.replaceAll(
    /(?<!\\)[\u0100-\uffff]/g,
    (wide) => `\\u${wide.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
