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
  for (const socket of [heard, unheard]) {
    socket.destroy();
    await expect.poll(() => socket.closed).toBe(true);
  }
  expect(takeUnheard()).toEqual([expect.stringMatching(/^a socket .*unheard-errors\.test\.ts:\d+/)]);
});
