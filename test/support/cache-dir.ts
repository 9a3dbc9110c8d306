import { fileURLToPath } from 'node:url';

/** All runs share the downloaded programs with local mode. */
export const cacheDir: string =
  process.env['MEDIARY_CACHE_DIR'] ?? fileURLToPath(new URL('../../.mediary', import.meta.url));
