import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { afterAll } from 'vitest';
import { newTaskId } from '../../src/base/ids.ts';
import type { TaskInput } from '../../src/task/input.ts';
import { createTemporalClient } from '../../src/temporal/connection.ts';
import { createActIds } from '../../src/access/act-ids.ts';
import { createTaskClient } from '../../src/temporal/task-client.ts';
import type { TaskPort } from '../../src/commands/task-port.ts';
import { temporalAddress } from '../support/run-servers.ts';

/** The Temporal side of a gateway. It has its own queues but no worker, so workflows that are started stay open. */
export interface TemporalWorld {
  readonly client: Client;
  readonly queuePrefix: string;
  readonly port: TaskPort;
  start(change?: Partial<TaskInput>): Promise<TaskInput>;
}

export function openTemporal(): TemporalWorld {
  const client = createTemporalClient({ address: temporalAddress(), namespace: 'default' });
  const queuePrefix = `t${randomBytes(5).toString('hex')}-`;
  const port = createTaskClient({
    client,
    queuePrefix,
    now: Date.now,
    newActId: createActIds(Buffer.alloc(32)).newId,
  });
  const started: string[] = [];
  afterAll(async () => {
    for (const id of started)
      await client.workflow
        .getHandle(id)
        .terminate()
        .catch(() => undefined);
    await client.connection.close();
  });
  return {
    client,
    queuePrefix,
    port,
    async start(change = {}) {
      const input = { ...newInput(), ...change };
      started.push(input.task);
      await port.start(input);
      return input;
    },
  };
}

export function newInput(): TaskInput {
  return {
    task: newTaskId(randomBytes),
    account: 'acc-1',
    key: 'key_1',
    kind: 'video',
    model: 'clip',
    candidates: [
      { channel: 'one', credential: 'a' },
      { channel: 'two', credential: 'b' },
    ],
    hold: '1',
    basis: { price: { minimum: '0', lines: [{ measure: 'call', price: '1' }] }, facts: {}, version: 'v' },
    currency: 'USD',
    deadlineAt: Date.now() + 60_000,
    expectedSeconds: 1,
    hasCallback: false,
  };
}
