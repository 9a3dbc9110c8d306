/** What all works together may take of one turn of the event loop. */
const sliceMs = 8;
/** How many that had to wait may begin in one turn. */
const begunAtOnceMax = 64;

/**
 * Lets works share the event loop with everything else: they run at once while they have taken less than a slice of its
 * turn, and else in the next turns, first come, first served. What a work resolves counts, too.
 */
export class TimeSlice {
  private beganAt: number | undefined;
  private readonly waiting = new Set<() => void>();

  /** A work that waits already waits once. */
  run(work: () => void): void {
    if (this.waiting.size > 0 || this.isOver()) this.waiting.add(work);
    else work();
  }

  /** The others have their turn first. */
  later(work: () => void): void {
    this.waiting.add(work);
    this.isOver();
  }

  forget(work: () => void): void {
    this.waiting.delete(work);
  }

  /** Begins a slice if there is none, and with it the wait for its end. */
  private isOver(): boolean {
    if (this.beganAt !== undefined) return performance.now() - this.beganAt >= sliceMs;
    this.beganAt = performance.now();
    setImmediate(() => this.end());
    return false;
  }

  private end(): void {
    this.beganAt = undefined;
    const count = Math.min(this.waiting.size, begunAtOnceMax);
    for (let begun = 0; begun < count; begun += 1) setImmediate(() => this.next());
  }

  private next(): void {
    const [work] = this.waiting;
    if (work === undefined || this.isOver()) return;
    this.waiting.delete(work);
    work();
  }
}
