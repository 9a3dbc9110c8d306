#!/usr/bin/env node
import { createProgram, verbs } from './cli/program.js';

/**
 * Plain JavaScript keeps `npx gateway --help` fast: loading TypeScript takes longer than printing the help, and only a
 * command line with a verb needs it.
 */
if (process.argv.some((word) => verbs.has(word))) {
  await import('./typescript.js');
  await import('./cli.ts');
} else {
  createProgram().parse();
}
