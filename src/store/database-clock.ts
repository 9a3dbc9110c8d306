import type { Db } from 'mongodb';

export interface DatabaseClock {
  /** Unix milliseconds. */
  now(): number;
  stop(): void;
}

export interface DatabaseClockDeps {
  readonly db: Pick<Db, 'command'>;
  /** Of this process: it is never set. Milliseconds. */
  readonly monotonic?: () => number;
  /** The answer could not be had; the clock continues from what it knows. */
  readonly onError: (error: unknown) => void;
  /** After each look. */
  readonly onTime: (serverTime: number) => void;
}

/** A monotonic clock loses or gains far less than a second in that time. */
const lookEveryMs = 60_000;

/**
 * The time of MongoDB's primary, which is the same for all processes, whatever their own clocks say: looked at now and then,
 * and carried on by the monotonic clock, so that a clock which is set meanwhile changes nothing. It is behind by what an
 * answer takes, and never ahead.
 */
export async function openDatabaseClock({
  db,
  monotonic = () => performance.now(),
  onError,
  onTime,
}: DatabaseClockDeps): Promise<DatabaseClock> {
  let offset = await look();
  const timer = setInterval(() => {
    look().then((found) => (offset = found), onError);
  }, lookEveryMs).unref();

  async function look(): Promise<number> {
    const { localTime } = await db.command({ hello: 1 });
    if (!(localTime instanceof Date)) throw new Error('MongoDB does not say what time it is');
    onTime(localTime.getTime());
    return localTime.getTime() - monotonic();
  }

  return { now: () => Math.floor(offset + monotonic()), stop: () => clearInterval(timer) };
}
