import type { Report } from './servers/local-options.ts';

/** What a person sees while the servers start. */
export interface StartDisplay {
  readonly report: Report;
  /** What was asked for: the banner, requests, the demo's story. Not to be used beside an updating line. */
  readonly print: (line: string) => void;
  /** Removes the updating line; what is reported afterwards is plain lines. */
  close(): void;
}

export interface StartDisplayOptions {
  readonly write: (text: string) => void;
  readonly print: (line: string) => void;
  /** The terminal's width; absent: the output is not a terminal. */
  readonly columns: (() => number) | undefined;
  /** Milliseconds. */
  readonly now: () => number;
}

const redrawMs = 1_000;
const clearLine = '\r\u001B[2K';

/**
 * On a terminal one line that is updated, with the seconds so far, above it only what a person must not miss. Elsewhere
 * (a file, CI) plain lines.
 */
export function createStartDisplay({ write, print, columns, now }: StartDisplayOptions): StartDisplay {
  const beganAt = now();
  let current: string | undefined;
  const draw = (): void => {
    if (columns === undefined || current === undefined) return;
    const seconds = String(Math.round((now() - beganAt) / 1000)).padStart(3);
    // A line that wraps could not be cleared.
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
