import type { Db } from 'mongodb';

export interface DatabaseClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly stop: () => void;
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
 * and carried on by the monotonic clock, so that a clock which is set meanwhile changes nothing. It is off by what an answer
 * takes at most: what is known is kept as long as an answer does not contradict it, however late a busy process reads that.
 * Not covered: a machine that slept, whose processes are behind until their next look.
 */
export async function openDatabaseClock({
  db,
  monotonic = () => performance.now(),
  onError,
  onTime,
}: DatabaseClockDeps): Promise<DatabaseClock> {
  let offset = Number.NEGATIVE_INFINITY;
  await look();
  const timer = setInterval(() => void look().catch(onError), lookEveryMs).unref();

  async function look(): Promise<void> {
    const asked = monotonic();
    const { localTime } = await db.command({ hello: 1 });
    if (!(localTime instanceof Date)) throw new Error('MongoDB does not say what time it is');
    const time = localTime.getTime();
    offset = Math.min(Math.max(offset, time - monotonic()), time - asked);
    onTime(time);
  }

  return { now: () => Math.floor(offset + monotonic()), stop: () => clearInterval(timer) };
}
