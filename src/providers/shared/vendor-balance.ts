import { z } from 'zod';
import type { HttpResponse, VendorBalance } from '../provider.ts';
import { unreadableError } from './http-outcome.ts';

/** A balance can be negative. Numbers are rounded to six decimal places. */
const amountSchema = z
  .union([z.number().transform((amount) => String(Number(amount.toFixed(6)))), z.string()])
  .pipe(z.string().regex(/^-?\d{1,15}(?:\.\d{1,20})?$/));

export function vendorBalance(
  answer: HttpResponse,
  { amount, unit }: { readonly amount: unknown; readonly unit: string },
): VendorBalance {
  const found = amountSchema.safeParse(amount).data;
  if (found === undefined) throw unreadableError(answer, 'it contains no balance');
  return { amount: found, unit };
}
