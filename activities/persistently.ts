const everyMs = 1_000;
const maxMsDefault = 240_000;

/**
 * Repeats a write until it succeeds: the database may be unavailable for minutes while only we know an upstream's
 * answer. The write must be repeatable. Rejects with its last error after `maxMs` (four minutes).
 */
export async function persistently<Result>(
  write: () => Promise<Result>,
  now: () => number,
  maxMs: number = maxMsDefault,
): Promise<Result> {
  const endsAt = now() + maxMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (now() > endsAt) throw error;
      await new Promise((resolve) => void setTimeout(resolve, everyMs));
    }
  }
}
