#!/usr/bin/env node
import { createProgram, verbs } from './cli/program.js';

/**
 * `npx gateway`: plain JavaScript, because `--help` needs nothing else. TypeScript, which costs more than all of the
 * help, is loaded for a line that names a verb.
 */
if (process.argv.some((word) => verbs.has(word))) {
  await import('./typescript.js');
  await import('./cli.ts');
} else {
  createProgram().parse();
}
