/**
 * How often a process queries MongoDB, in milliseconds. An idle process uses `idleMs`. docs/operating.md lists the same
 * periods with their reasons.
 */
export const periods = {
  /** Short even when idle, because publishing waits until every process has loaded the configuration. */
  configuration: { everyMs: 2_000, idleMs: 4_000 },
  ownReport: { everyMs: 6_000 },
  processes: { everyMs: 2_000, idleMs: 60_000 },
  circuits: { everyMs: 2_000, idleMs: 60_000 },
  switches: { everyMs: 3_000, idleMs: 60_000 },
  renderTimes: { everyMs: 10_000, idleMs: 60_000 },
  charges: { everyMs: 10_000 },
  wakes: { everyMs: 1_000 },
  accountAlerts: { everyMs: 5_000, idleMs: 60_000 },
  notices: { everyMs: 15_000, idleMs: 30_000 },
  census: { everyMs: 15_000, idleMs: 30_000 },
  verification: { everyMs: 60_000 },
  /** Once a minute is enough, because a monotonic clock drifts by far less than a second in that time. */
  databaseClock: { everyMs: 60_000 },
  lastUses: { everyMs: 60_000 },
  storedBytes: { everyMs: 5_000 },
  abandonedCreations: { everyMs: 1_000 },
  repeats: { everyMs: 15_000 },
  exchanges: { everyMs: 1_000 },
  /** Used while a request waits for a task's next status. */
  waitedTasks: { everyMs: 250 },
  /** The period per position in the queue, while another process appends to the same account's ledger. */
  ledgerTurn: { everyMs: 12 },
  promisedBills: { everyMs: 5_000 },
  /** Used while another request uploads the same file to the same upstream. */
  upload: { everyMs: 500 },
  imageLease: { everyMs: 15_000 },
  abandonedImages: { everyMs: 15_000 },
} as const;
