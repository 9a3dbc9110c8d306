import { expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';

it('ADMIN_TOKEN has at least 32 characters, and the error explains how to create one', () => {
  expect(readEnvironment({ ADMIN_TOKEN: 'x'.repeat(32) }).ADMIN_TOKEN).toBe('x'.repeat(32));
  expect(() => readEnvironment({ ADMIN_TOKEN: 'x'.repeat(31) })).toThrow(
    'ADMIN_TOKEN: must have at least 32 characters (openssl rand -base64 32)',
  );
});
