import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { askFor, askUntilAnswered } from '../stand/http.ts';

const endWithinMs = 300_000;
const lookEveryMs = 2_000;
const path = '/v1/videos/generations';

export interface Caller {
  readonly url: string;
  readonly key: string;
}

const taskSchema = z.looseObject({ id: z.string(), status: z.string() });

export function createTask({ url, key }: Caller, prompt: string): Promise<{ readonly id: string }> {
  return askUntilAnswered(taskSchema, url + path, {
    method: 'POST',
    token: key,
    headers: { 'idempotency-key': randomUUID() },
    body: { model: 'seedance', prompt, duration: 5, resolution: '720p', ratio: '16:9' },
  });
}

export async function unsuccessful({ url, key }: Caller, tasks: readonly string[]): Promise<string[]> {
  const open = new Map(tasks.map((id) => [id, 'not looked at']));
  for (const endsAt = Date.now() + endWithinMs; Date.now() < endsAt; await delay(lookEveryMs)) {
    for (const id of open.keys()) {
      const { status } = await askFor(taskSchema, `${url}${path}/${id}`, { token: key });
      if (status === 'succeeded') open.delete(id);
      else open.set(id, status);
    }
    if ([...open.values()].every((status) => status === 'failed')) break;
  }
  return [...open].map(([id, status]) => `${id} is ${status}`);
}
