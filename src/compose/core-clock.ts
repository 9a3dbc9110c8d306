import type { Logger } from '../observability/log.ts';
import { createClockMarks } from '../store/clock-marks.ts';
import { openDatabaseClock, type DatabaseClock } from '../store/database-clock.ts';
import type { Mongo } from '../store/mongo.ts';
import type { CoreOptions } from './core.ts';

const clockApartMs = 10_000;

export function openClock(
  { db }: Mongo,
  log: Logger,
  { ownNow = () => Date.now(), databaseNow }: Omit<CoreOptions, 'variables'>,
): Promise<DatabaseClock> | DatabaseClock {
  if (databaseNow !== undefined) {
    return { now: databaseNow, jump: () => undefined, stop: () => undefined };
  }
  return openDatabaseClock({
    db,
    marks: createClockMarks(db),
    ownNow,
    onError: (err) => log.warn({ err }, 'the time of the database could not be read'),
    onTime(serverTime) {
      const aheadMs = ownNow() - serverTime;
      if (Math.abs(aheadMs) > clockApartMs) log.warn({ ahead_ms: aheadMs }, clockIsApart);
    },
  });
}

const clockIsApart =
  'this process’s clock differs from the database clock, which the ledger and the tasks use: synchronize both with network time';
