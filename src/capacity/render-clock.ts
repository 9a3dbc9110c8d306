import { Readable } from 'node:stream';
import { periods } from '../base/periods.ts';
import { learnedTimes, renderSamplesMax } from '../models/render-times.ts';
import type { RenderKind, RenderSample, RenderTimes } from '../models/render-times.ts';
import type { Pace } from '../process/pace.ts';
import { createSnapshot } from '../store/snapshot.ts';
import { renderId, type RenderRecord, type RenderTimesStore } from '../store/render-times.ts';

/**
 * Learns from all processes how long renders take. Samples are collected in memory and written every few seconds, so
 * nothing waits for MongoDB. A crash may lose some samples, which is harmless.
 */
export interface RenderClock {
  times(kind: RenderKind): RenderTimes | undefined;
  learn(kind: RenderKind, renderMs: number): void;
  refresh(): Promise<void>;
  start(pace: Pace): void;
  stop(): Promise<void>;
}

export interface RenderClockDeps {
  readonly store: Pick<RenderTimesStore, 'list' | 'add'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

const writesAtOnceMax = 8;
/**
 * Limits the samples per kind and interval, so that the stored samples of a busy kind span minutes rather than seconds.
 */
const batchMax = 4;

interface Batch {
  readonly kind: RenderKind;
  readonly samples: RenderSample[];
  seen: number;
}

export function createRenderClock({ store, now, random, onError }: RenderClockDeps): RenderClock {
  const computed = new Map<string, RenderTimes | undefined>();
  const batches = createBatches({ store, random, onError });
  const known = createSnapshot<RenderRecord>({
    list: async () => {
      // Write the new samples first, because the read replaces everything in memory.
      await batches.flush();
      const records = await store.list();
      computed.clear();
      return records;
    },
    period: periods.renderTimes,
    onError,
  });

  function timesOf(kind: RenderKind): RenderTimes | undefined {
    const id = renderId(kind);
    if (!computed.has(id)) computed.set(id, learnedTimes(samplesOf(kind), now()));
    return computed.get(id);
  }

  function samplesOf({ channel, model, output }: RenderKind): readonly RenderSample[] {
    return [...known.all()]
      .filter((each) => each.channel === channel && each.model === model)
      .filter((each) => output === '' || each.output === output)
      .flatMap(({ samples }) => samples)
      .toSorted((one, other) => one.at - other.at)
      .slice(-renderSamplesMax);
  }

  return {
    times: (kind) => timesOf(kind) ?? timesOf({ ...kind, output: '' }),

    learn(kind, renderMs) {
      const id = renderId(kind);
      const sample = { ms: Math.round(renderMs), at: now() };
      if (!batches.add(kind, sample)) return;
      const samples = [...(known.find(id)?.samples ?? []), sample].slice(-renderSamplesMax);
      known.put({ id, ...kind, samples });
      // Discard only this kind's computed times, because every poll reads those of the other kinds.
      computed.delete(id);
      computed.delete(renderId({ ...kind, output: '' }));
    },

    refresh: known.refresh,
    start: known.start,

    async stop() {
      known.stop();
      await batches.flush();
    },
  };
}

function createBatches({ store, random, onError }: Omit<RenderClockDeps, 'now'>) {
  const batches = new Map<string, Batch>();
  return {
    add(kind: RenderKind, sample: RenderSample): boolean {
      const id = renderId(kind);
      const batch = batches.get(id) ?? { kind, samples: [], seen: 0 };
      batches.set(id, batch);
      batch.seen += 1;
      const place = batch.seen <= batchMax ? batch.seen - 1 : Math.floor(random() * batch.seen);
      if (place >= batchMax) return false;
      batch.samples[place] = sample;
      return true;
    },

    async flush(): Promise<void> {
      const due = [...batches.values()];
      batches.clear();
      const save = ({ kind, samples }: (typeof due)[number]) => store.add(kind, samples).catch(onError);
      await Readable.from(due).forEach(save, { concurrency: writesAtOnceMax });
    },
  };
}
