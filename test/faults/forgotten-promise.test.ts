import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { startGatewayProcess, waitUntil } from '../support/processes.ts';

const preload = `process.on('SIGUSR2', () => void Promise.reject(new Error('forgotten')))`;

it('a rejection that nobody handles is logged, and ends no worker', async () => {
  const gateway = await startGateway({ worker: false });
  const directory = await mkdtemp(join(tmpdir(), 'mediary-forgotten-'));
  const logFile = join(directory, 'worker.log');
  const environment = {
    ...gateway.environment,
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(preload)}"`,
  };
  const worker = startGatewayProcess('worker', environment, logFile);
  const logged = (text: string) => async () => (await readFile(logFile, 'utf8')).includes(text);
  try {
    await waitUntil('the worker has started', logged('"started"'));
    process.kill(worker.pid, 'SIGUSR2');
    await waitUntil('the rejection is logged', logged('a rejection was not handled'));
    const account = await gateway.account();
    const { body } = await account.create();
    expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
    expect(await worker.stop()).toBe(0);
  } finally {
    await worker.kill();
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
});
