/** A bill that cannot be read or compared. The message is for the operator who chose the file. */
export class BillError extends Error {
  override name = 'BillError';
}
