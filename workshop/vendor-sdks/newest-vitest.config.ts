import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { mergeConfig } from 'vitest/config';
import type { Plugin } from 'vitest/config';
import { z } from 'zod';
import base from '../../vitest.config.ts';
import { rawEnvironment } from '../../src/config/environment.ts';
import { drivers, olderOpenai, resolverFile } from './newest-node.ts';

/** Runs the tests against the newest SDKs, which are installed in the folder NEWEST_SDKS rather than in the project. */

const { NEWEST_SDKS: folder = '' } = rawEnvironment();

const resolverSchema = z.object({ resolve: z.function({ input: [z.string()], output: z.string() }) });
const imported: unknown = await import(pathToFileURL(join(folder, resolverFile)).href);
const { resolve } = resolverSchema.parse(imported);

const newestSdks: Plugin = {
  name: 'newest-sdks',
  enforce: 'pre',
  resolveId(source, importer = '') {
    const driver = drivers.find((name) => source === name || source.startsWith(`${name}/`));
    const keepsOlder = driver === 'openai' && olderOpenai.some((path) => importer.endsWith(`/${path}`));
    return driver === undefined || keepsOlder ? undefined : fileURLToPath(resolve(source));
  },
};

export default mergeConfig(base, {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  plugins: [newestSdks],
  // The cache does not know where a package was resolved.
  test: { experimental: { fsModuleCache: false } },
});
