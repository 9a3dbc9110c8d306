import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from './client.ts';

const secondsMost = 240;

export interface BeforeDeadline {
  readonly seconds: number;
  readonly body: (seconds: number) => Record<string, unknown>;
  readonly isReached: (task: string) => Promise<boolean>;
}

/**
 * Creates a task and waits until `isReached` returns true. On a busy machine, the task may reach its deadline first. In
 * that case, creates another task whose deadline is twice as far away.
 */
export async function reachedBeforeDeadline(
  account: TestAccount,
  { seconds: first, body, isReached }: BeforeDeadline,
): Promise<string> {
  for (let seconds = first; seconds < secondsMost; seconds *= 2) {
    const { metadata, ...fields } = body(seconds);
    const created = await account.create({
      ...fields,
      metadata: { ...(metadata as object | undefined), execution_expires_after: seconds },
    });
    if (created.status !== 200) throw new Error(`no task was created: ${created.text}`);
    const { id } = created.body;
    const waitsUntil = Date.now() + (seconds + secondsMost) * 1000;
    for (let hasEnded = false; !hasEnded; await sleep(50)) {
      if (await isReached(id)) return id;
      const { status } = (await account.call('GET', `/v1/videos/generations/${id}`)).body;
      hasEnded = status === 'succeeded' || status === 'failed';
      if (Date.now() > waitsUntil)
        throw new Error(`task ${id} passed its deadline and has not ended: ${status}`);
    }
  }
  throw new Error(`no task got that far within ${secondsMost} s`);
}
