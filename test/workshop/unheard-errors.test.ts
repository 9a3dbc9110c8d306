import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../support/listen.ts';
import { takeUnheard } from '../support/unheard-errors.ts';

it('a socket of a test that closes without a listener for errors is reported, with its place', async () => {
  const { port, close } = await listen(
    createServer((socket) => socket.on('error', () => undefined).resume()),
  );
  onTestFinished(close);
  const heard = connect(port, '127.0.0.1').on('error', () => undefined);
  const unheard = connect(port, '127.0.0.1');
  for (const socket of [heard, unheard]) socket.destroy();
  const reported: string[] = [];
  await expect.poll(() => reported.push(...takeUnheard())).toBe(1);
  expect(reported).toEqual([expect.stringMatching(/^a socket .*unheard-errors\.test\.ts:\d+/)]);
});
