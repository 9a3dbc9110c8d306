import { expectedCharge, shapeChargesMax } from '../money/charge-shape.ts';
import type { Micros } from '../money/money.ts';
import { createRounds } from '../process/rounds.ts';
import type { ShapeChargesStore } from '../store/shape-charges.ts';

/**
 * What requests of the same shape (`chargeShape`) have cost lately. No settlement waits for MongoDB: charges are
 * collected and written every few seconds. Nothing depends on those that a crash loses.
 */
export interface ChargeBook {
  note(shape: string, charge: Micros): void;
  /** The median of the last charges, or undefined if there are too few. */
  expected(shape: string): Promise<Micros | undefined>;
  /** Writes what was noted. Never rejects. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the remaining charges. */
  stop(): Promise<void>;
}

export interface ChargeBookDeps {
  readonly store: Pick<ShapeChargesStore, 'add' | 'find'>;
  readonly onError: (error: unknown) => void;
}

const intervalMs = 10_000;
/** How many shapes one interval collects. Charges of further shapes are dropped. */
const shapesMax = 1_000;

export function createChargeBook({ store, onError }: ChargeBookDeps): ChargeBook {
  const noted = new Map<string, Micros[]>();

  async function work(): Promise<void> {
    const due = [...noted];
    noted.clear();
    for (const [shape, charges] of due) await store.add(shape, charges).catch(onError);
  }

  const { run: flush, start, stop } = createRounds({ everyMs: intervalMs, work, onError });
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
