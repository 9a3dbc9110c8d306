export interface UpkeepTime {
  readonly shareMs: number;
  /** How much longer the last item may take once the step's budget is used up. */
  readonly lastMs: number;
}

const second = 1000;
const timeOf = (share: number, last: number): UpkeepTime => ({
  shareMs: share * second,
  lastMs: last * second,
});

/** The budgets add up to less than `reconcileTimeoutMs`, so each step gets to run, however slow the others are. */
export const upkeepTimes = {
  running: timeOf(0, 30),
  unfinished: timeOf(60, 20),
  owing: timeOf(20, 10),
  failing: timeOf(20, 10),
  asking: timeOf(10, 10),
  /**
   * Allows for the 45 s during which the step watches leases that have stopped renewing, before it settles their holds.
   */
  leases: timeOf(75, 20),
  slots: timeOf(20, 10),
  key_slots: timeOf(20, 10),
  account_alerts: timeOf(20, 10),
  ledger_heads: timeOf(0, 60),
  ledger_heads_export: timeOf(0, 60),
  rollups: timeOf(0, 60),
  task_retention: timeOf(40, 20),
  account_deletions: timeOf(40, 20),
  retention: timeOf(30, 10),
  files: timeOf(30, 10),
  uploads: timeOf(40, 30),
  parts: timeOf(15, 10),
  storage: timeOf(0, 15),
  /** A copy may take five minutes, plus the time to request and open its links. */
  copies: timeOf(110, 350),
} as const satisfies Readonly<Record<string, UpkeepTime>>;

export type UpkeepName = keyof typeof upkeepTimes;

export const reconcileTimeoutMs = 23 * 60 * second;
