import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifestFile = new URL('../../package.json', import.meta.url);

export function productVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(manifestFile, 'utf8'));
  return z.object({ version: z.string() }).parse(manifest).version;
}
