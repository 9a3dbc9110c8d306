/** Milliseconds since 1970. */
export type Now = () => number;

interface Entry {
  readonly due: number;
  readonly run: () => void;
}

/** Longest sleep between looks at the clock: an injected clock may jump without notice. */
const lookEveryMsMax = 1000;

/** The simulator's time: it can be put forward, and runs what became due. One timer, whatever the number of entries. */
export class Clock {
  readonly #base: Now;
  #aheadMs = 0;
  #heap: Entry[] = [];
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
    push(this.#heap, { due, run });
    this.#arm();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#heap = [];
  }

  #arm(): void {
    const next = this.#heap[0];
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
    for (let next = this.#heap[0]; next !== undefined && next.due <= now; next = this.#heap[0]) {
      pop(this.#heap);
      next.run();
    }
    this.#timerDue = Number.POSITIVE_INFINITY;
    this.#arm();
  }
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || parent.due <= entry.due) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const leftIndex = 2 * index + 1;
    const left = heap[leftIndex];
    if (left === undefined) break;
    const right = heap[leftIndex + 1];
    const takeRight = right !== undefined && right.due < left.due;
    const child = takeRight ? right : left;
    if (child.due >= last.due) break;
    heap[index] = child;
    index = takeRight ? leftIndex + 1 : leftIndex;
  }
  heap[index] = last;
}
