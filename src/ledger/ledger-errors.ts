/** MongoDB did not respond in time, if at all. The entry may or may not exist, so repeat the same call. */
export class LedgerUnavailableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'LedgerUnavailableError';
  }
}

/**
 * The call contradicts the ledger, for example by settling something that was never held. This is a bug in our own
 * code. Nothing was written.
 */
export class LedgerIntegrityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerIntegrityError';
  }
}

/**
 * The database's clock has jumped. Nothing can be dated until the jump is reversed or an operator accepts the new time.
 */
export class LedgerClockError extends LedgerUnavailableError {
  constructor() {
    super('the clock of the database has jumped: see the notice `clock_jumped`', undefined);
  }
}
