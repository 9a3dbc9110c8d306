import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { inspect } from 'node:util';
import { escaped } from '../base/plain-text.ts';

export interface Terminal {
  confirm(question: string): Promise<boolean>;
  progress(line: string): void;
}

const eraseLine = '\r\u001B[K';

export function createTerminal(input: Readable, output: Writable): Terminal {
  return {
    async confirm(question) {
      const lines = createInterface({ input, output });
      try {
        return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
      } finally {
        lines.close();
      }
    },
    progress: (line) => void output.write(eraseLine + escaped(line, { keepLines: false })),
  };
}

export function failureText(error: unknown, isOurs: boolean): string {
  return escaped(isOurs && error instanceof Error ? error.message : inspect(error), { keepLines: true });
}
