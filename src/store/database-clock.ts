import { uptime as machineUptime } from 'node:os';
import type { Db } from 'mongodb';
import type { ClockJump, ClockMark, ClockMarks } from './clock-marks.ts';

export interface DatabaseClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Returns the jump that forbids dating money by this time, or undefined if there is none. */
  readonly jump: () => ClockJump | undefined;
  readonly stop: () => void;
}

export interface DatabaseClockDeps {
  readonly db: Pick<Db, 'command'>;
  readonly marks: Pick<ClockMarks, 'find' | 'confirm' | 'contradict'>;
  /** Of this process: it is never set. Milliseconds. */
  readonly monotonic?: () => number;
  /** The machine's uptime, including time asleep. Seconds. */
  readonly uptime?: () => number;
  /** This machine's wall clock, used only until this process has a count of its own. Unix milliseconds. */
  readonly ownNow?: () => number;
  /** The answer could not be had; the clock continues from what it knows. */
  readonly onError: (error: unknown) => void;
  /** After each look. */
  readonly onTime: (serverTime: number) => void;
}

/** A monotonic clock loses or gains far less than a second in that time. */
const lookEveryMs = 60_000;
const clockJumpMs = 2 * 60_000;

/**
 * The time of MongoDB's primary, which is the same for all processes, whatever their own clocks say: looked at now and then,
 * and carried on by the monotonic clock, so that a clock which is set meanwhile changes nothing. It is off by what an answer
 * takes at most: what is known is kept as long as an answer does not contradict it, however late a busy process reads that.
 *
 * A time more than two minutes from this process's own count is a jump. It is ignored until the database agrees with the
 * count again, another process with a count of its own confirms it, or an operator accepts it. A process that has just
 * started compares the time with the last confirmed one.
 */
export async function openDatabaseClock(deps: DatabaseClockDeps): Promise<DatabaseClock> {
  const { db, marks, onError, onTime } = deps;
  const { monotonic = () => performance.now(), uptime = machineUptime, ownNow = Date.now } = deps;
  let offset = Number.NEGATIVE_INFINITY;
  let isCounted = false;
  let awakeAt = 0;
  /** The mark as it was last known to this process. */
  let rev: number | undefined;
  let jump: ClockJump | undefined;
  await look();
  const timer = setInterval(() => void look().catch(onError), lookEveryMs).unref();

  async function look(): Promise<void> {
    const asked = monotonic();
    const time = await readDatabaseTime(db);
    const answered = monotonic();
    const sleptMs = uptime() * 1000 - answered - awakeAt;
    onTime(time);
    const mark = await marks.find();
    if (isRight(time, { mark, asked, answered, sleptMs })) {
      const known = isCounted ? offset : Number.NEGATIVE_INFINITY;
      offset = Math.min(Math.max(known, time - answered), time - asked);
      isCounted = true;
      awakeAt += sleptMs;
      jump = undefined;
      await marks.confirm(time);
      rev = undefined;
      return;
    }
    jump = { expected: Math.floor(isCounted ? offset + answered : (mark?.at ?? time)), seen: time };
    // A process without a count of its own still uses the database's time for everything but money.
    if (!isCounted) offset = time - answered;
    rev ??= mark?.rev;
    if (mark !== undefined && mark.jump === undefined) await marks.contradict(mark, jump);
  }

  function isRight(time: number, seen: Seen): boolean {
    const { mark, asked, answered, sleptMs } = seen;
    const isConfirmed = mark !== undefined && rev !== undefined && mark.rev > rev && isNear(time, mark.at);
    if (isConfirmed && mark.jump === undefined) return true;
    if (!isCounted) return isRightAtStart(time, mark, ownNow());
    const early = time - (offset + answered);
    const late = time - (offset + asked);
    const isAsCounted = early >= -clockJumpMs && late <= clockJumpMs;
    return isAsCounted || (sleptMs > clockJumpMs && Math.abs(late - sleptMs) <= clockJumpMs);
  }

  return {
    now: () => Math.floor(offset + monotonic()),
    jump: () => jump,
    stop: () => clearInterval(timer),
  };
}

/** Unix milliseconds. */
export async function readDatabaseTime(db: Pick<Db, 'command'>): Promise<number> {
  const { localTime } = await db.command({ hello: 1 });
  if (!(localTime instanceof Date)) throw new Error('MongoDB does not say what time it is');
  return localTime.getTime();
}

interface Seen {
  readonly mark: ClockMark | undefined;
  readonly asked: number;
  readonly answered: number;
  readonly sleptMs: number;
}

function isNear(time: number, other: number): boolean {
  return Math.abs(time - other) <= clockJumpMs;
}

/**
 * Nothing was counted while no process ran, so the time must be near the last confirmed one or this machine's clock. After
 * a recorded jump, it must be near this machine's clock and most of the jump must be undone.
 */
function isRightAtStart(time: number, mark: ClockMark | undefined, ownNow: number): boolean {
  if (mark === undefined) return true;
  const { at, jump } = mark;
  if (jump === undefined) return isNear(time, at) || isNear(time, ownNow);
  return isNear(time, ownNow) && Math.abs(time - at) < Math.abs(jump.seen - jump.expected) / 2;
}
