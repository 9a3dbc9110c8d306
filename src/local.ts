import { createStartDisplay } from './local/start-display.ts';
import { parentEnded, readerLeft } from './observability/process-ends.ts';

/**
 * Imports the other modules late, because loading them takes a second and the first line of output must appear before
 * that.
 */
export async function startLocalMode(demo: boolean): Promise<void> {
  // The files of this process and its servers contain secrets and callers' prompts, so keep them private.
  process.umask(0o077);
  const launch = {
    parentEnded: parentEnded(process.ppid),
    readerLeft: readerLeft([process.stdout, process.stderr]),
  };
  const display = createStartDisplay({
    write: (text) => void process.stderr.write(text),
    print: (line) => console.log(line),
    columns: process.stderr.isTTY ? () => process.stderr.columns : undefined,
    now: () => performance.now(),
  });
  display.report(demo ? 'The demo is starting…' : 'Mediary is starting…');
  const { runDemoCommand, runStartCommand } = await import('./local/local-mode.ts');
  await (demo ? runDemoCommand(display, launch) : runStartCommand(display, launch));
}
