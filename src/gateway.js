#!/usr/bin/env node
import { createProgram, verbs } from './cli/program.js';

/**
 * `npx gateway`. Plain JavaScript, so that `--help` is fast: loading TypeScript takes longer than printing the help,
 * and only a command line that names a verb needs it.
 */
if (process.argv.some((word) => verbs.has(word))) {
  await import('./typescript.js');
  await import('./cli.ts');
} else {
  createProgram().parse();
}
