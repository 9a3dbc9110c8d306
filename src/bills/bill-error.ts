export class BillError extends Error {
  override name = 'BillError';
}
