/** What it means that an upstream does not know a job. Pure. */

export interface MissingJob {
  /** Consecutive responses that say so. */
  readonly misses: number;
  /** Since the upstream accepted the job. */
  readonly elapsedMs: number;
  /** The model's usual render time. */
  readonly expectedMs: number;
}

const missesMin = 5;
/** An upstream's own stores agree about a new job within minutes, and not before it would be rendered. */
const graceMinMs = 5 * 60_000;

/**
 * Whether a person has to look: the job was accepted, so it may be billed, and it is too old for an upstream that
 * only begins to know it. Until then, and after a single miss, polling continues.
 */
export function isLostJob({ misses, elapsedMs, expectedMs }: MissingJob): boolean {
  return misses >= missesMin && elapsedMs >= Math.max(graceMinMs, expectedMs);
}
