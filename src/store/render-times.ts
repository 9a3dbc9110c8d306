import type { Db } from 'mongodb';
import { z } from 'zod';
import { isUsable, renderSamplesMax, type RenderKind, type RenderSample } from '../models/render-times.ts';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';

export interface RenderRecord extends RenderKind {
  readonly id: string;
  readonly samples: readonly RenderSample[];
}

interface RenderTimesDocument extends RenderKind {
  readonly _id: string;
  readonly samples: readonly RenderSample[];
  /** Each new sample extends it, so kinds that are no longer rendered are eventually forgotten. */
  readonly expires: Date;
}

const keptMs = 90 * 24 * 3_600_000;
const recordsMax = 2_000;
const recordSchema = z.object({
  _id: z.string(),
  channel: z.string(),
  model: z.string(),
  output: z.string(),
  samples: z.array(z.object({ ms: z.number(), at: z.number() }).catch({ ms: Number.NaN, at: 0 })),
});

export type RenderTimesStore = ReturnType<typeof createRenderTimesStore>;

export function createRenderTimesStore(db: Db, now: () => number) {
  const renders = openCollection<RenderTimesDocument>(db, 'render_times', durable);

  async function push(
    { channel, model, output }: RenderKind,
    samples: readonly RenderSample[],
  ): Promise<void> {
    await renders.updateOne(
      { _id: renderId({ channel, model, output }) },
      {
        $push: { samples: { $each: [...samples], $slice: -renderSamplesMax } },
        $set: { expires: new Date(now() + keptMs) },
        $setOnInsert: { channel, model, output },
      },
      { upsert: true },
    );
  }

  return {
    ensureIndexes: () => ensureIndexes(renders, [expiring]),

    async list(): Promise<RenderRecord[]> {
      const documents: unknown[] = await renders.find().limit(recordsMax).toArray();
      return documents.flatMap((document) => {
        const read = recordSchema.safeParse(document).data;
        if (read === undefined) return [];
        const { _id: id, samples, ...kind } = read;
        return [{ id, ...kind, samples: samples.filter(isUsable).slice(-renderSamplesMax) }];
      });
    },

    async add(kind: RenderKind, samples: readonly RenderSample[]): Promise<void> {
      await repeatOnDuplicate(() => push(kind, samples));
    },
  };
}

export function renderId({ channel, model, output }: RenderKind): string {
  return [channel, model, output].join('|');
}
