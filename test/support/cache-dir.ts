import { fileURLToPath } from 'node:url';

/** Programs are fetched once and kept, for all runs, where the local mode keeps them too. */
export const cacheDir: string =
  process.env['MEDIARY_CACHE_DIR'] ?? fileURLToPath(new URL('../../.mediary', import.meta.url));
