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
