import { afterAll } from 'vitest';
import { takeUnheard } from './unheard-errors.ts';

/** Without an error listener, a reset connection would fail the whole run at random, outside of all tests. */
afterAll(() => {
  const unheard = takeUnheard();
  if (unheard.length > 0) throw new Error(`these need a listener for 'error':\n${unheard.join('\n')}`);
});
