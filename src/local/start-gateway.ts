import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { LocalServerError, type LocalOptions } from './servers/local-options.ts';
import { startChild, waitUntilServing, type ChildServer } from './servers/process.ts';
import { supervise } from './servers/supervisor.ts';
import type { Started } from './start-servers.ts';

/**
 * In milliseconds. The worker and the API take seconds to load, or up to a minute on a busy machine. If either exits,
 * the wait ends immediately.
 */
const readyDeadlineMs = 180_000;
/** In milliseconds. Frequent probes are cheap, because the API caches the response for 250 ms. */
const probeIntervalMs = 100;
export const probeTimeoutMs = 5_000;

const program = fileURLToPath(new URL('../load-ahead.js', import.meta.url));
const roles = ['worker', 'api'] as const;
type Role = (typeof roles)[number];

type StartRole = (role: Role) => Promise<ChildServer>;

/**
 * Starts the worker and the API without their settings, so that they load their code while the servers start. The
 * returned function starts either role, and its first call for each role returns the process that is already loading.
 */
export async function loadGateway(options: LocalOptions, started: Started): Promise<StartRole> {
  const start = (role: Role): Promise<ChildServer> =>
    startChild({
      ...options,
      name: role,
      command: process.execPath,
      args: [program, role],
      hasChannel: true,
    });
  const waiting = new Map<Role, ChildServer>();
  started.push({
    stop: async () => void (await Promise.all([...waiting.values()].map((one) => one.kill()))),
  });
  await Promise.all(roles.map(async (role) => waiting.set(role, await start(role))));
  return async (role) => {
    const loaded = waiting.get(role);
    waiting.delete(role);
    return loaded ?? start(role);
  };
}

/**
 * Sends the worker and the API their environment, and waits until the API is ready. Returns their log files. Fails if
 * the worker exits, because nothing would process the tasks that the gateway accepts.
 */
export async function startGateway(
  apiUrl: string,
  { environment, report, startRole }: Pick<LocalOptions, 'environment' | 'report'> & { startRole: StartRole },
  started: Started,
): Promise<readonly string[]> {
  const start = (role: Role) => async (): Promise<ChildServer> => {
    const child = await startRole(role);
    child.send(environment);
    return child;
  };
  const [worker, api] = await Promise.all([start('worker')(), start('api')()]);
  const ready = shared(async () => {
    await delay(probeIntervalMs);
    await probe(apiUrl);
  });
  try {
    // The API is ready only while workers poll, so there is no point in waiting if the worker exits.
    await Promise.all([api, worker].map((child) => waitUntilServing(child, ready, readyDeadlineMs)));
  } catch (error) {
    await Promise.all([worker.kill(), api.kill()]);
    throw error;
  }
  started.push(supervise(worker, start('worker'), report), supervise(api, start('api'), report));
  return [api.logFile, worker.logFile];
}

/** Rejects with the gateway's message unless the gateway is ready without warnings. */
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

function shared(ask: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  return () => (current ??= ask().finally(() => (current = undefined)));
}
