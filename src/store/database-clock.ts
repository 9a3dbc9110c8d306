import { uptime as machineUptime } from 'node:os';
import type { Db } from 'mongodb';
import { periods } from '../base/periods.ts';
import type { ClockJump, ClockMark, ClockMarks } from './clock-marks.ts';

export interface DatabaseClock {
  readonly now: () => number;
  /** Returns a jump that makes the current time unsafe for ledger entries, or undefined if there is none. */
  readonly jump: () => ClockJump | undefined;
  readonly stop: () => void;
}

export interface DatabaseClockDeps {
  readonly db: Pick<Db, 'command'>;
  readonly marks: Pick<ClockMarks, 'find' | 'confirm' | 'contradict'>;
  /** In milliseconds. Monotonic, so it is unaffected by changes to the system clock. */
  readonly monotonic?: () => number;
  /** The machine's uptime in seconds, including sleep. */
  readonly uptime?: () => number;
  /** Unix milliseconds. Used only at startup, before the monotonic clock has counted anything. */
  readonly ownNow?: () => number;
  /** Called when the database cannot be reached. The clock then continues from the last known time. */
  readonly onError: (error: unknown) => void;
  readonly onTime: (serverTime: number) => void;
}

const clockJumpMs = 2 * 60_000;

/**
 * Follows the clock of MongoDB's primary, so that all processes agree on the time. The time is read periodically and
 * advanced by the monotonic clock, so changing a machine's clock has no effect. The error is at most one round trip. If
 * the database's time differs by more than two minutes from what this process has counted, that is a jump. A jump is
 * ignored until the database agrees again, another process confirms the new time from its own count, or an operator
 * accepts it. A process that has just started compares the time with the last confirmed one.
 */
export async function openDatabaseClock(deps: DatabaseClockDeps): Promise<DatabaseClock> {
  const { db, marks, onError, onTime } = deps;
  const { monotonic = () => performance.now(), uptime = machineUptime, ownNow = Date.now } = deps;
  let offset = Number.NEGATIVE_INFINITY;
  let isCounted = false;
  let awakeAt = 0;
  let rev: number | undefined;
  let jump: ClockJump | undefined;
  await look();
  const timer = setInterval(() => void look().catch(onError), periods.databaseClock.everyMs).unref();

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
    // Until this process has counted some time itself, it uses the database's time for everything except money.
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

export async function readDatabaseTime(db: Pick<Db, 'command'>): Promise<number> {
  const { localTime } = await db.command({ hello: 1 });
  if (!(localTime instanceof Date)) throw new Error('MongoDB does not report its time');
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
 * Nothing was counted while no process ran, so the time must be close to the last confirmed time or to this machine's
 * clock. After a recorded jump, it must be close to this machine's clock, and most of the jump must have been undone.
 */
function isRightAtStart(time: number, mark: ClockMark | undefined, ownNow: number): boolean {
  if (mark === undefined) return true;
  const { at, jump } = mark;
  if (jump === undefined) return isNear(time, at) || isNear(time, ownNow);
  return isNear(time, ownNow) && Math.abs(time - at) < Math.abs(jump.seen - jump.expected) / 2;
}
