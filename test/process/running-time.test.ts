import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { afterRunning, timeLimit, within } from '../../src/process/running-time.ts';
import { linesWith, readSources } from '../support/source-rules.ts';
import { standStill } from '../support/stand-still.ts';

const never = new Promise<never>(() => undefined);

it('a limit excludes the time for which the process was paused', async () => {
  const signal = timeLimit(1_000);
  standStill(3_000);
  // This resolves only after all due timers have fired.
  await turn();
  expect(signal.aborted).toBe(false);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

it('work ends with its own outcome, or with the error of its limit', async () => {
  const late = () => new Error('late');
  expect(await within(60_000, Promise.resolve('done'), late)).toBe('done');
  await expect(within(60_000, Promise.reject(new Error('failed')), late)).rejects.toThrow('failed');
  await expect(within(10, never, late)).rejects.toThrow('late');
});

it('a limit that is no longer needed does nothing', async () => {
  let calls = 0;
  const cancel = afterRunning(20, () => (calls += 1));
  cancel();
  await within(100, never, () => new Error('late')).catch(() => undefined);
  expect(calls).toBe(0);
});

it('every limit of the servers excludes such pauses', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const others = ['src/cli/', 'src/local/', 'src/client/', 'src/pages/'];
  const sources = readSources(root, ['src', 'activities', 'workflows']);
  expect(linesWith(sources, /AbortSignal\.timeout\(/, others)).toEqual([]);
});
