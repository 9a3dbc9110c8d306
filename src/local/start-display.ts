import type { Report } from './servers/local-options.ts';

export interface StartDisplay {
  readonly report: Report;
  /**
   * Prints output that the user asked for: the banner, the request log and the demo's steps. It would garble the
   * updating line, so do not call this while that line is shown.
   */
  readonly print: (line: string) => void;
  close(): void;
}

export interface StartDisplayOptions {
  readonly write: (text: string) => void;
  readonly print: (line: string) => void;
  /** Returns the terminal's width in columns. Undefined if the output is not a terminal. */
  readonly columns: (() => number) | undefined;
  readonly now: () => number;
}

const redrawMs = 1_000;
const clearLine = '\r\u001B[2K';

/**
 * In a terminal, shows a single line that is updated with the elapsed seconds. Only `lasting` reports stay on the
 * screen above it. Elsewhere, such as in a file or in CI, prints plain lines.
 */
export function createStartDisplay({ write, print, columns, now }: StartDisplayOptions): StartDisplay {
  const beganAt = now();
  let current: string | undefined;
  const draw = (): void => {
    if (columns === undefined || current === undefined) return;
    const seconds = String(Math.round((now() - beganAt) / 1000)).padStart(3);
    // Truncate the line, because a wrapped line could not be erased.
    write(`${clearLine}${`${seconds} s  ${current}`.slice(0, Math.max(columns() - 1, 10))}`);
  };
  let redraw = columns === undefined ? undefined : setInterval(draw, redrawMs);
  redraw?.unref();
  return {
    print,
    report(line, kind) {
      if (redraw === undefined) {
        write(`${line}\n`);
        return;
      }
      if (kind === 'lasting') write(`${clearLine}${line}\n`);
      else [current = ''] = line.split('\n');
      draw();
    },
    close() {
      if (redraw === undefined) return;
      clearInterval(redraw);
      redraw = undefined;
      if (current !== undefined) write(clearLine);
    },
  };
}
