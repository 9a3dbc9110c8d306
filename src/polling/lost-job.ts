/** Decides what to do if an upstream does not know a job. */

export interface MissingJob {
  readonly misses: number;
  readonly elapsedMs: number;
  readonly expectedMs: number;
}

const missesMin = 5;
/**
 * A missing job is tolerated for this long, or for its usual render time if that is longer. An upstream's replicas may
 * take minutes to agree on a new job.
 */
const graceMinMs = 5 * 60_000;

/**
 * Whether an operator must investigate. The job was accepted, so it may be billed, and it is too old to be missing only
 * because the upstream is slow. Until then, polling continues.
 */
export function isLostJob({ misses, elapsedMs, expectedMs }: MissingJob): boolean {
  return misses >= missesMin && elapsedMs >= Math.max(graceMinMs, expectedMs);
}
