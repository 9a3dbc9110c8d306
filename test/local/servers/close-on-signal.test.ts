import { once } from 'node:events';
import { expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { runProgram } from './programs/run-program.ts';

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s stops everything in order, once, however often it arrives',
  async (signal) => {
    const { child } = await runProgram(new URL('./programs/close-on-signal.ts', import.meta.url));
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const closed = once(child, 'close');
    child.kill(signal);
    await waitUntil('it closes', () => Promise.resolve(said.includes('closing')));
    child.kill(signal);
    expect(await closed).toEqual([1, null]);
    expect(said).toBe('closing\nclosed\n');
  },
);
