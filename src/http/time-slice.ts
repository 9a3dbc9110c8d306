/** Limits the total time that jobs may run per event loop turn. */
const sliceMs = 8;
const begunAtOnceMax = 64;
const putOffTurnsMax = 64;

type Work = () => void;

/**
 * Lets jobs share the event loop with everything else. A job runs immediately if the jobs of this turn have used less
 * than one slice, and otherwise in a later turn. Holders alternate, so one with many connections does not delay the
 * others. A holder's jobs run in order of arrival. Work that a job triggers by resolving a promise uses the same slice.
 */
export class TimeSlice {
  private beganAt: number | undefined;
  private isPutOff = false;
  private putOffTurns = 0;
  /** Holders are served in this order, and each has at least one job. */
  private readonly waiting = new Map<string, Set<Work>>();
  private readonly holders = new Map<Work, string>();

  run(holder: string, work: Work): void {
    if (this.holders.size > 0 || this.isOver()) this.wait(holder, work);
    else this.begin(work);
  }

  later(holder: string, work: Work): void {
    this.wait(holder, work);
    this.isOver();
  }

  /** Defers all jobs to the next event loop turn, which shortens the current one. */
  putOff(): void {
    if (this.isPutOff || this.putOffTurns === putOffTurnsMax) return;
    // The slice normally begins with the first job, but there may have been none yet.
    this.isOver();
    this.isPutOff = true;
    this.putOffTurns += 1;
  }

  forget(work: Work): void {
    const holder = this.holders.get(work);
    if (holder === undefined) return;
    this.holders.delete(work);
    const works = this.waiting.get(holder);
    works?.delete(work);
    if (works?.size === 0) this.waiting.delete(holder);
  }

  private wait(holder: string, work: Work): void {
    if (this.holders.has(work)) return;
    this.holders.set(work, holder);
    const works = this.waiting.get(holder) ?? new Set();
    this.waiting.set(holder, works.add(work));
  }

  /** Returns true if the current slice is used up. If there is no slice, begins one and schedules its end. */
  private isOver(): boolean {
    if (this.beganAt !== undefined) return this.isPutOff || performance.now() - this.beganAt >= sliceMs;
    this.beganAt = performance.now();
    setImmediate(() => this.end());
    return false;
  }

  private end(): void {
    this.beganAt = undefined;
    this.isPutOff = false;
    const count = Math.min(this.holders.size, begunAtOnceMax);
    for (let begun = 0; begun < count; begun += 1) setImmediate(() => this.next());
  }

  private next(): void {
    const [turn] = this.waiting;
    if (turn === undefined || this.isOver()) return;
    const [holder, works] = turn;
    const [work] = works;
    if (work === undefined) return;
    this.forget(work);
    if (this.waiting.delete(holder)) this.waiting.set(holder, works);
    this.begin(work);
  }

  private begin(work: Work): void {
    this.putOffTurns = 0;
    work();
  }
}
