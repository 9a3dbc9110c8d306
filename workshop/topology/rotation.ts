import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ask, askFor, askUntilAnswered } from '../soak/http.ts';

const endWithinMs = 300_000;
const lookEveryMs = 2_000;

/** The load balancer before the APIs: those in rotation take requests in turn. */
export interface Rotation {
  readonly key: string;
  readonly urls: Set<string>;
}

export interface Load {
  readonly created: readonly string[];
  /** One sentence for each request that had no success. */
  readonly failures: readonly string[];
  readonly requests: number;
}

const taskSchema = z.looseObject({ id: z.string(), status: z.string() });

export function createTask(url: string, key: string, prompt: string): Promise<{ readonly id: string }> {
  return askUntilAnswered(taskSchema, `${url}/v1/videos/generations`, {
    method: 'POST',
    token: key,
    headers: { 'idempotency-key': randomUUID() },
    body: { model: 'seedance', prompt, duration: 5, resolution: '720p', ratio: '16:9' },
  });
}

/** Creates a task and reads the balance, `everyMs`, until the signal; nothing is repeated. */
export async function loadUntil(signal: AbortSignal, rotation: Rotation, everyMs: number): Promise<Load> {
  const created: string[] = [];
  const failures: string[] = [];
  const running: Promise<void>[] = [];
  let requests = 0;
  const attempt = async (path: string, body?: object): Promise<unknown> => {
    const urls = [...rotation.urls];
    const url = urls[requests % urls.length] ?? '';
    requests += 1;
    try {
      const options = body === undefined ? {} : ({ method: 'POST', body } as const);
      const answer = await ask(`${url}${path}`, { token: rotation.key, timeoutMs: 60_000, ...options });
      if (answer.status === 200) return answer.body;
      failures.push(`${path} at ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      failures.push(`${path} at ${url}: ${String(error)}`);
    }
    return undefined;
  };
  const body = { model: 'seedance', prompt: 'under load', duration: 5, resolution: '720p', ratio: '16:9' };
  while (!signal.aborted) {
    const create = attempt('/v1/videos/generations', body).then((answer) => {
      const task = taskSchema.safeParse(answer);
      if (task.success) created.push(task.data.id);
    });
    running.push(
      create,
      attempt('/v1/balance').then(() => undefined),
    );
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
  }
  await Promise.all(running);
  return { created, failures, requests };
}

/** Waits until all have ended. Resolves with a sentence for each that has not succeeded. */
export async function unsuccessful(url: string, key: string, tasks: readonly string[]): Promise<string[]> {
  const open = new Map(tasks.map((id) => [id, 'not looked at']));
  for (const endsAt = Date.now() + endWithinMs; Date.now() < endsAt; await delay(lookEveryMs)) {
    for (const id of open.keys()) {
      const { status } = await askFor(taskSchema, `${url}/v1/videos/generations/${id}`, { token: key });
      if (status === 'succeeded') open.delete(id);
      else open.set(id, status);
    }
    if ([...open.values()].every((status) => status === 'failed')) break;
  }
  return [...open].map(([id, status]) => `${id} is ${status}`);
}
