export interface MissingJob {
  readonly misses: number;
  readonly elapsedMs: number;
  readonly expectedMs: number;
}

const missesMin = 5;
/**
 * An upstream's replicas may take minutes to agree on a new job, so a missing job is tolerated for at least this long.
 */
const graceMinMs = 5 * 60_000;

/**
 * Returns true if an operator must investigate: the job may be billed, and it is too old to be missing only because the
 * upstream is slow. Until then, polling continues.
 */
export function isLostJob({ misses, elapsedMs, expectedMs }: MissingJob): boolean {
  return misses >= missesMin && elapsedMs >= Math.max(graceMinMs, expectedMs);
}
