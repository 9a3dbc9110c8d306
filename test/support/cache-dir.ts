import { fileURLToPath } from 'node:url';

export const cacheDir: string =
  process.env['MEDIARY_CACHE_DIR'] ?? fileURLToPath(new URL('../../.mediary', import.meta.url));
