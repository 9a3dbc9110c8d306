/** MongoDB did not respond in time. The entry may or may not exist, so repeat the same call. */
export class LedgerUnavailableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'LedgerUnavailableError';
  }
}

/**
 * A call contradicts the ledger, for example by settling a task that had no hold. Nothing was written. This is a bug in
 * the gateway.
 */
export class LedgerIntegrityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerIntegrityError';
  }
}

/** Entries cannot be dated until the clock is correct again or an operator accepts the new time. */
export class LedgerClockError extends LedgerUnavailableError {
  constructor() {
    super('the database clock has jumped: see the notice `clock_jumped`', undefined);
  }
}
