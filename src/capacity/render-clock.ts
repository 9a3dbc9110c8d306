import { learnedTimes, renderSamplesMax } from '../models/render-times.ts';
import type { RenderKind, RenderSample, RenderTimes } from '../models/render-times.ts';
import type { Pace } from '../process/pace.ts';
import { createSnapshot } from '../store/snapshot.ts';
import { renderId } from '../store/render-times.ts';
import type { RenderRecord, RenderTimesStore } from '../store/render-times.ts';

/**
 * What all processes have learned of render times, as this one last read it. Nobody waits for MongoDB here: samples are
 * collected and written every few seconds, at most a few for each kind of output; nothing depends on those that a crash loses.
 */
export interface RenderClock {
  /** By the renders of this kind or, if they are too few, of its channel and model. Undefined: nothing is known. */
  times(kind: RenderKind): RenderTimes | undefined;
  /** One render that succeeded. Never throws. */
  learn(kind: RenderKind, renderMs: number): void;
  /** Rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  start(pace: Pace): void;
  /** Writes what is collected. */
  stop(): Promise<void>;
}

export interface RenderClockDeps {
  readonly store: Pick<RenderTimesStore, 'list' | 'add'>;
  readonly now: () => number;
  readonly random: () => number;
  /** What was known stays in force. */
  readonly onError: (error: unknown) => void;
}

const intervalMs = 10_000;
/** Of one kind and one interval: a busy kind's samples span minutes, not seconds. */
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
      // First what this process has learned: the read replaces all that it knows.
      await batches.flush();
      const records = await store.list();
      computed.clear();
      return records;
    },
    intervalMs,
    onError,
  });

  function timesOf(kind: RenderKind): RenderTimes | undefined {
    const id = renderId(kind);
    if (!computed.has(id)) computed.set(id, learnedTimes(samplesOf(kind), now()));
    return computed.get(id);
  }

  /** The newest. Without an output: of all outputs. */
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
      // Not those of others: times are asked for before each question.
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

/** What is to be written. */
function createBatches({ store, random, onError }: Omit<RenderClockDeps, 'now'>) {
  const batches = new Map<string, Batch>();
  return {
    /** False: the sample is not among those that are kept. Each of an interval's is kept with the same probability. */
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
      for (const { kind, samples } of due) await store.add(kind, samples).catch(onError);
    },
  };
}
