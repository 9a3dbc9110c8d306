import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import type { LocalOptions } from '../../../src/local/servers/local-options.ts';

export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-local-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function scratchOptions(): Promise<LocalOptions & { lines: string[] }> {
  const lines: string[] = [];
  return {
    dataDir: await scratchDirectory(),
    report: (line) => lines.push(line),
    environment: process.env,
    lines,
  };
}
