/** The contract recommends polling every 2 to 5 seconds. */
const shortestSeconds = 2;
const longestSeconds = 5;

/** Seconds until news of an unfinished task is likely: short around its expected end, long before and after. */
export function retryAfterSeconds(elapsedSeconds: number, expectedSeconds: number): number {
  const distance = Math.abs(expectedSeconds - elapsedSeconds);
  return Math.min(Math.max(Math.round(distance / 10), shortestSeconds), longestSeconds);
}
