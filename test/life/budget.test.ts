import { Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

/** What one task may cost: writes to MongoDB, events and bytes of its history. */
const writesMax = { without: 8, withCallback: 10 };
const eventsMax = { without: 18, withCallback: 20 };
const historyBytesMax = 6_500;

const writing = [
  'insertOne', 'insertMany', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany',
  'findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete',
] as const; // prettier-ignore

/** Evidence, what is learned or summed up of many tasks, and what processes say of themselves: not part of a task's way. */
const aside = new Set([
  'clock',
  'duties',
  'exchanges',
  'nodes',
  'render_times',
  'served_channels',
  'shape_charges',
  'stored_bytes',
]);

/** The step from submitted to running, and progress, are seen on the way and decide nothing. */
function isProgress(update: unknown): boolean {
  return /"status":"running"|"progress"/.test(
    JSON.stringify(update ?? {}, (_, value: unknown) => (typeof value === 'bigint' ? '' : value)),
  );
}

/** Entries of a gateway that an earlier file has started in this process, and that still settles. */
function isOfAnother(written: unknown): boolean {
  const first: unknown = Array.isArray(written) ? written[0] : undefined;
  return typeof first === 'object' && first !== null && 'account' in first && first.account !== account?.id;
}

let account: TestAccount | undefined;

describe('the budget of one task', () => {
  let gateway: TestGateway;
  const writes: string[] = [];
  const originals = new Map<string, unknown>();
  beforeAll(async () => {
    gateway = await startGateway();
    for (const operation of writing) {
      const original = Reflect.get(Collection.prototype, operation) as (...args: unknown[]) => unknown;
      originals.set(operation, original);
      Reflect.set(Collection.prototype, operation, function (this: Collection, ...args: unknown[]): unknown {
        if (!aside.has(this.collectionName) && !isProgress(args[1]) && !isOfAnother(args[0]))
          writes.push(`${this.collectionName}.${operation}`);
        return original.apply(this, args);
      });
    }
  });
  afterAll(async () => {
    for (const [operation, original] of originals) Reflect.set(Collection.prototype, operation, original);
    await gateway.stop();
  });

  async function playedTask(metadata: Readonly<Record<string, unknown>>) {
    account = await gateway.account();
    // What the first task of a process writes beside its own steps is not the second one's.
    await account.finished((await account.create()).body.id);
    writes.splice(0);
    const { body } = await account.create({ metadata });
    await gateway.core.client.workflow.getHandle(body.id).result();
    const made = [...writes];
    const history = await gateway.core.client.workflow.getHandle(body.id).fetchHistory();
    const events = history.events ?? [];
    const bytes = events.reduce((sum, event) => sum + JSON.stringify(event).length / 2, 0);
    return { made, events: events.length, bytes };
  }

  it('is kept without a callback', async () => {
    const { made, events, bytes } = await playedTask({});
    expect(made).toHaveLength(Math.min(made.length, writesMax.without));
    // All that a task is: it was asked for, it is held, sent, accepted, done, paid and over.
    expect(made.filter((write) => write.startsWith('ledger.'))).toHaveLength(2);
    expect(events).toBeLessThanOrEqual(eventsMax.without);
    expect(bytes).toBeLessThan(historyBytesMax);
  });

  it('is kept with one', async () => {
    const receiver = await startCallbackReceiver();
    const { made, events } = await playedTask({ callback_url: receiver.url });
    await receiver.waitFor(1);
    receiver.close();
    expect(made).toHaveLength(Math.min(made.length, writesMax.withCallback));
    expect(events).toBeLessThanOrEqual(eventsMax.withCallback);
  });
});
