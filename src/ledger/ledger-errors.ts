/** MongoDB did not respond in time, so the entry may or may not exist. Repeat the same call. */
export class LedgerUnavailableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'LedgerUnavailableError';
  }
}

/**
 * The call contradicts the ledger, for example by settling a task that had no hold. This is a bug in our own code.
 * Nothing was written.
 */
export class LedgerIntegrityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerIntegrityError';
  }
}

/** No entry can be dated until the clock is right again or an operator accepts the new time. */
export class LedgerClockError extends LedgerUnavailableError {
  constructor() {
    super('the clock of the database has jumped: see the notice `clock_jumped`', undefined);
  }
}
