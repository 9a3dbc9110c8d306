import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from './command-error.ts';
import { exitStatuses } from './program.js';
import { failureText } from './terminal.ts';

export interface Watch {
  readonly look: (print: (text: string) => void) => Promise<void>;
  readonly print: (text: string) => void;
  /**
   * In a terminal, each output replaces the previous one. Elsewhere, an output is printed only if it differs from the
   * previous one.
   */
  readonly isTerminal: boolean;
}

const everyMs = 2000;
const clearScreen = '\u001B[H\u001B[2J';

/** Continues even while the gateway is unreachable. Rejects on any other error. */
export async function watch({ look, print, isTerminal }: Watch): Promise<never> {
  process.once('SIGINT', () => process.exit(exitStatuses.done.status));
  let shown: string | undefined;
  for (;;) {
    const seen = await textOf(look);
    if (isTerminal) print(clearScreen + seen);
    else if (seen !== shown) print(seen);
    shown = seen;
    await sleep(everyMs);
  }
}

async function textOf(look: Watch['look']): Promise<string> {
  const texts: string[] = [];
  try {
    await look((text) => void texts.push(text));
  } catch (error) {
    const isAway = error instanceof CommandError && error.status === exitStatuses.not_reachable.status;
    if (!isAway) throw error;
    return failureText(error, true);
  }
  return texts.join('\n');
}
