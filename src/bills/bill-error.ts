/** A bill that cannot be read or compared. The message is shown to the operator who chose the file. */
export class BillError extends Error {
  override name = 'BillError';
}
