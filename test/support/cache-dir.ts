import { fileURLToPath } from 'node:url';

/** The folder for downloaded programs, shared by all runs and by local mode. */
export const cacheDir: string =
  process.env['MEDIARY_CACHE_DIR'] ?? fileURLToPath(new URL('../../.mediary', import.meta.url));
