import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

/**
 * Checks src/load-ahead.js, which `npm start` runs as the API and the worker. test/local/start.test.ts checks that both
 * of them work.
 */

function load(role: 'api' | 'worker') {
  const child = fork('src/load-ahead.js', [role], { execArgv: [], silent: true });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, ended: once(child, 'close'), output: () => output };
}

it.each(['api', 'worker'] as const)('the %s runs with the environment that it was sent', async (role) => {
  const { child, ended, output } = load(role);
  child.send({ MONGODB_URI: 'no-address-of-mongodb' });
  expect(await ended).toEqual([78, null]);
  expect(output()).toContain('MONGODB_URI: ');
  expect(output()).not.toContain('MONGODB_URI: required');
});

it('ends if no process is left to send an environment', async () => {
  const { child } = load('api');
  const exited = once(child, 'exit');
  child.disconnect();
  expect([0, 13]).toContain((await exited)[0]);
});
