import { hash } from 'node:crypto';
import type { Db } from 'mongodb';
import { shapeChargesMax } from '../money/charge-shape.ts';
import type { Micros } from '../money/money.ts';
import { dayMs } from '../base/times.ts';
import { ensureIndexes, expiring, openCollection, primaryOnly, repeatOnDuplicate } from './mongo.ts';

interface ShapeChargesDocument {
  readonly _id: string;
  readonly charges: readonly Micros[];
  /** Each new charge extends it, so only unused shapes are forgotten. */
  readonly expires: Date;
}

const keptMs = 90 * dayMs;

export type ShapeChargesStore = ReturnType<typeof createShapeChargesStore>;

export function createShapeChargesStore(db: Db, now: () => number) {
  const shapes = openCollection<ShapeChargesDocument>(db, 'shape_charges', primaryOnly);
  return {
    ensureIndexes: () => ensureIndexes(shapes, [expiring]),

    /** Uses a single push, so that concurrent writers do not lose each other's charges. */
    async add(shape: string, charges: readonly Micros[]): Promise<void> {
      await repeatOnDuplicate(() =>
        shapes.updateOne(
          { _id: idOf(shape) },
          {
            $push: { charges: { $each: [...charges], $slice: -shapeChargesMax } },
            $set: { expires: new Date(now() + keptMs) },
          },
          { upsert: true },
        ),
      );
    },

    async find(shape: string): Promise<readonly Micros[]> {
      const found = await shapes.findOne({ _id: idOf(shape) });
      return found?.charges ?? [];
    },
  };
}

function idOf(shape: string): string {
  return hash('sha256', shape, 'hex');
}
