import { describe, expect, it } from 'vitest';
import { createRenderClock } from '../../src/capacity/render-clock.ts';
import { quantileOf, type RenderKind, type RenderSample } from '../../src/models/render-times.ts';
import { renderId, type RenderRecord } from '../../src/store/render-times.ts';

function sharedStore() {
  const records = new Map<string, RenderRecord>();
  const writes: { readonly id: string; readonly samples: readonly RenderSample[] }[] = [];
  const state = { fails: false };
  return {
    writes,
    state,
    store: {
      list: async () => {
        if (state.fails) throw new Error('away');
        return [...records.values()];
      },
      add: async (kind: RenderKind, samples: readonly RenderSample[]) => {
        if (state.fails) throw new Error('away');
        const id = renderId(kind);
        writes.push({ id, samples });
        records.set(id, { id, ...kind, samples: [...(records.get(id)?.samples ?? []), ...samples] });
      },
    },
  };
}

function processOn({ store }: ReturnType<typeof sharedStore>) {
  const errors: unknown[] = [];
  const clock = createRenderClock({
    store,
    now: () => 1_000_000,
    random: () => 0.99,
    onError: (error) => errors.push(error),
  });
  return { clock, errors };
}

const kind = { channel: 'ark', model: 'seedance', output: '720p/5' };
const learnAll = (clock: ReturnType<typeof processOn>['clock'], of: RenderKind, times: readonly number[]) => {
  for (const ms of times) clock.learn(of, ms);
};
const middle = (clock: ReturnType<typeof processOn>['clock'], of: RenderKind) => {
  const times = clock.times(of);
  return times === undefined ? undefined : quantileOf(times, 0.5);
};

describe('render times', () => {
  it('are learned at once here, and by the other process with its next read', async () => {
    const shared = sharedStore();
    const [here, there] = [processOn(shared), processOn(shared)];
    for (const ms of [10, 20, 30, 40, 50]) {
      here.clock.learn(kind, ms);
      await here.clock.stop();
    }
    expect(middle(here.clock, kind)).toBeCloseTo(30);
    expect(middle(there.clock, kind)).toBeUndefined();
    await there.clock.refresh();
    expect(middle(there.clock, kind)).toBeCloseTo(30);
  });

  it('of a new kind are those of its channel and model', async () => {
    const { clock } = processOn(sharedStore());
    learnAll(clock, kind, [10, 20, 30]);
    learnAll(clock, { ...kind, output: '1080p/5' }, [40, 50]);
    expect(middle(clock, { ...kind, output: '480p/10' })).toBeCloseTo(30);
    expect(middle(clock, { ...kind, model: 'other' })).toBeUndefined();
  });

  it('cost one write per kind and interval, of a few samples, however many renders ended', async () => {
    const shared = sharedStore();
    const { clock } = processOn(shared);
    learnAll(
      clock,
      kind,
      Array.from({ length: 1_000 }, (_, n) => 1_000 + n),
    );
    await clock.stop();
    expect(shared.writes).toHaveLength(1);
    expect(shared.writes[0]?.samples).toHaveLength(4);
    await clock.stop();
    expect(shared.writes).toHaveLength(1);
  });

  it('stay known while MongoDB is unreachable, and only the log shows that', async () => {
    const shared = sharedStore();
    const { clock, errors } = processOn(shared);
    learnAll(clock, kind, [10, 20, 30, 40]);
    await clock.stop();
    learnAll(clock, kind, [50]);
    shared.state.fails = true;
    await clock.stop();
    await expect(clock.refresh()).rejects.toThrow('away');
    expect(errors).toHaveLength(1);
    expect(middle(clock, kind)).toBeCloseTo(30);
  });
});
