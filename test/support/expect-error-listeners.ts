import { afterAll } from 'vitest';
import { takeUnheard } from './unheard-errors.ts';

/**
 * Fails the file that left a socket without an error listener. Otherwise, a reset connection would fail the whole run,
 * outside any test.
 */
afterAll(() => {
  const unheard = takeUnheard();
  if (unheard.length > 0) throw new Error(`these need a listener for 'error':\n${unheard.join('\n')}`);
});
