import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHealth } from '../../src/capacity/capacity.ts';
import type { SlotKeeper } from '../../src/capacity/slot-keeper.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { createChannelHealthStore } from '../../src/store/channel-health.ts';
import { createSlotStore } from '../../src/store/slots.ts';
import { openDatabase } from './support.ts';

const price = { lines: [{ measure: 'call', price: '1' }] };
const channelOf = (id: string, { limit, credential = 'a', model = 'm' }: Configured) => ({
  id,
  provider: 'ark',
  base_url: 'http://upstream.test',
  credentials: [{ id: credential, api_key: 'k' }],
  limits: { concurrent_tasks: limit },
  models: { [model]: { upstream: 'u' } },
});

interface Configured {
  readonly limit?: number;
  readonly credential?: string;
  readonly model?: string;
}

/** The plan was made before the configuration changed. */
const planned = { channel: 'planned', credential: 'a' };

describe('a task whose only free channel is gone from the configuration', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    database = await openDatabase();
    await createSlotStore(database.db, Date.now).ensureIndexes();
  });
  afterAll(() => database.drop());

  function openSlots(full: string, left: ReturnType<typeof channelOf> | undefined): SlotKeeper {
    const channels = [channelOf(full, { limit: 1 }), ...(left === undefined ? [] : [left])];
    const models = ['m', 'other'].map((id) => ({ id, kind: 'video', price }));
    const config = fileSchema.parse({ currency: 'USD', channels, models });
    const { slots } = createHealth({
      channelHealth: createChannelHealthStore(database.db, Date.now),
      slotStore: createSlotStore(database.db, Date.now),
      config: () => ({ ...config, hash: '', vendors: {} }),
      wake: async () => undefined,
      waitingFor: async () => [],
      onCircuit: () => undefined,
      onError: (error) => expect.unreachable(String(error)),
      now: Date.now,
      random: () => 0.5,
    });
    return slots;
  }

  const ask = (slots: SlotKeeper, full: string, task: string) =>
    slots.take({
      task,
      account: 'x',
      model: 'm',
      candidate: { channel: full, credential: 'a' },
      others: [planned],
      hasWaited: false,
      deadlineAt: Date.now() + 3_600_000,
      createdAt: 0,
      wasLost: false,
    });

  it.each<[string, Configured | undefined]>([
    ['the channel', undefined],
    ['the credential', { credential: 'b' }],
    ['the model', { model: 'other' }],
  ])(
    'waits in the queue of the full one, like every other task, after %s was removed',
    async (what, left) => {
      const full = `full-${what.slice(4)}`;
      const slots = openSlots(full, left && channelOf('planned', left));
      expect(await ask(slots, full, `${full}-holder`)).toEqual({ kind: 'taken' });
      expect(await ask(slots, full, `${full}-waits`)).toMatchObject({ kind: 'wait', ahead: 0 });
      expect(await slots.anyHasRoom({ task: `${full}-waits`, model: 'm' }, [planned])).toBe(false);
    },
  );

  it('goes to the other channel while that is configured', async () => {
    const slots = openSlots('full-kept', channelOf('planned', {}));
    expect(await ask(slots, 'full-kept', 'kept-holder')).toEqual({ kind: 'taken' });
    expect(await ask(slots, 'full-kept', 'kept-waits')).toEqual({ kind: 'elsewhere' });
  });
});
