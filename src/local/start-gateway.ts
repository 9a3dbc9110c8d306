import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { LocalServerError } from './servers/local-options.ts';
import type { LocalOptions } from './servers/local-options.ts';
import { startChild, waitUntilServing } from './servers/process.ts';
import type { ChildServer } from './servers/process.ts';
import { supervise } from './servers/supervisor.ts';
import type { Started } from './start-servers.ts';

/** Both load for seconds, and on a busy machine for a minute. One that ends is an error at once. */
const readyDeadlineMs = 180_000;
const probeIntervalMs = 500;
const probeTimeoutMs = 5_000;
const projectDir = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts the worker and the API, and waits until the API reports that it is ready. Their log files are returned. A
 * worker that ends before that is an error: the gateway would accept tasks that nobody works on.
 */
export async function startGateway(
  apiUrl: string,
  options: LocalOptions,
  started: Started,
): Promise<readonly string[]> {
  const start = (role: 'worker' | 'api') => (): Promise<ChildServer> =>
    startChild({
      ...options,
      name: role,
      command: process.execPath,
      args: [resolve(projectDir, 'src/gateway.js'), role],
    });
  const [worker, api] = await Promise.all([start('worker')(), start('api')()]);
  const ready = shared(async () => {
    await delay(probeIntervalMs);
    await probe(apiUrl);
  });
  try {
    // Ready means that workers poll, too: it is not said while the worker has ended.
    await Promise.all([api, worker].map((child) => waitUntilServing(child, ready, readyDeadlineMs)));
  } catch (error) {
    await Promise.all([worker.kill(), api.kill()]);
    throw error;
  }
  started.push(
    supervise(worker, start('worker'), options.report),
    supervise(api, start('api'), options.report),
  );
  return [api.logFile, worker.logFile];
}

/** Resolves if the gateway at this address reports that it is ready, without a warning; otherwise throws with its words. */
export async function probe(apiUrl: string): Promise<void> {
  const { statusCode, body } = await request(`${apiUrl}/readyz`, {
    headersTimeout: probeTimeoutMs,
    bodyTimeout: probeTimeoutMs,
  });
  const text = await body.text();
  if (statusCode !== 200 || !text.includes('"warnings":[]')) throw new LocalServerError(messageIn(text));
}

function messageIn(text: string): string {
  return /"message":"([^"]*)"/.exec(text)?.[1] ?? text;
}

/** Whoever asks while an answer is awaited gets the same one. */
function shared(ask: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  return () => (current ??= ask().finally(() => (current = undefined)));
}
