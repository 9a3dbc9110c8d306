import { fileURLToPath } from 'node:url';

/** Where test runs keep downloaded programs. Shared with local mode. */
export const cacheDir: string =
  process.env['MEDIARY_CACHE_DIR'] ?? fileURLToPath(new URL('../../.mediary', import.meta.url));
