import { Readable } from 'node:stream';
import { periods } from '../base/periods.ts';
import { expectedCharge, shapeChargesMax } from '../money/charge-shape.ts';
import type { Micros } from '../money/money.ts';
import { createRounds } from '../process/rounds.ts';
import type { ShapeChargesStore } from '../store/shape-charges.ts';

/**
 * Records what recent requests of the same shape (`chargeShape`) cost. Charges are collected in memory and written
 * every few seconds, so a settlement never waits for MongoDB. A crash may lose a few, which only makes the estimates
 * less recent.
 */
export interface ChargeBook {
  note(shape: string, charge: Micros): void;
  expected(shape: string): Promise<Micros | undefined>;
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface ChargeBookDeps {
  readonly store: Pick<ShapeChargesStore, 'add' | 'find'>;
  readonly onError: (error: unknown) => void;
}

const writesAtOnceMax = 8;
const shapesMax = 1_000;

export function createChargeBook({ store, onError }: ChargeBookDeps): ChargeBook {
  const noted = new Map<string, Micros[]>();

  async function work(): Promise<void> {
    const due = [...noted];
    noted.clear();
    const save = ([shape, charges]: (typeof due)[number]) => store.add(shape, charges).catch(onError);
    await Readable.from(due).forEach(save, { concurrency: writesAtOnceMax });
  }

  const { run: flush, start, stop } = createRounds({ ...periods.charges, work, onError });
  return {
    note(shape, charge) {
      const charges = noted.get(shape) ?? [];
      if (charges.length === 0 && noted.size >= shapesMax) return;
      noted.set(shape, [...charges, charge].slice(-shapeChargesMax));
    },
    expected: async (shape) => expectedCharge(await store.find(shape)),
    flush,
    start,
    stop: () => stop().then(flush),
  };
}
