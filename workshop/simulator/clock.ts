export type Now = () => number;

interface Entry {
  readonly due: number;
  readonly run: () => void;
}

const lookEveryMsMax = 1000;

export class Clock {
  readonly #base: Now;
  #aheadMs = 0;
  #entries: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;

  constructor(base: Now) {
    this.#base = base;
  }

  now(): number {
    return this.#base() + this.#aheadMs;
  }

  advance(milliseconds: number): void {
    this.#aheadMs += milliseconds;
    this.#runDue();
  }

  at(due: number, run: () => void): void {
    this.#entries.splice(placeOf(this.#entries, due), 0, { due, run });
    this.#arm();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#entries = [];
  }

  #arm(): void {
    const next = this.#entries.at(-1);
    if (next === undefined || next.due >= this.#timerDue) return;
    clearTimeout(this.#timer);
    this.#timerDue = next.due;
    const delay = Math.max(0, Math.min(lookEveryMsMax, next.due - this.now()));
    this.#timer = setTimeout(() => {
      this.#runDue();
    }, delay);
    this.#timer.unref();
  }

  #runDue(): void {
    const now = this.now();
    while ((this.#entries.at(-1)?.due ?? Number.POSITIVE_INFINITY) <= now) this.#entries.pop()?.run();
    this.#timerDue = Number.POSITIVE_INFINITY;
    this.#arm();
  }
}

function placeOf(entries: readonly Entry[], due: number): number {
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((entries[middle]?.due ?? 0) > due) from = middle + 1;
    else to = middle;
  }
  return from;
}
