import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifestFile = new URL('../../package.json', import.meta.url);

/** Returns the version from package.json. */
export function productVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(manifestFile, 'utf8'));
  return z.object({ version: z.string() }).parse(manifest).version;
}
