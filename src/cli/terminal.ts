import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

/** A person who watches a verb. */
export interface Terminal {
  confirm(question: string): Promise<boolean>;
  /** Replaces the line that it wrote before; an empty one removes it. */
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
    progress: (line) => void output.write(eraseLine + line),
  };
}
