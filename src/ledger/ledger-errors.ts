/** MongoDB did not answer, or not in time. Whether the entry exists is not known: repeat the same call. */
export class LedgerUnavailableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'LedgerUnavailableError';
  }
}

/** The call contradicts what the ledger says (settling what was never held): a bug of ours, nothing was written. */
export class LedgerIntegrityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerIntegrityError';
  }
}

/**
 * The clock of the database has jumped. Nothing is dated by it until the jump is over or an operator has accepted the
 * new time.
 */
export class LedgerClockError extends LedgerUnavailableError {
  constructor() {
    super('the time of the database has jumped: see the notice `clock_jumped`', undefined);
  }
}
