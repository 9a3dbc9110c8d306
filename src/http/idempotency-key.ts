import { z } from 'zod';
import { invalidParameter } from '../errors/errors.ts';
import type { RequestMeta } from './route.ts';

/** The header in the OpenAPI document. */
export const idempotencyHeader = z.object({ 'idempotency-key': z.string().optional() });

const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** Returns the `Idempotency-Key` header's value, or undefined if the header was not sent. */
export function idempotencyKeyOf(meta: RequestMeta): string | undefined {
  const key = meta.header('idempotency-key');
  if (key === undefined || keyPattern.test(key)) return key;
  throw invalidParameter(
    'Idempotency-Key',
    'The header Idempotency-Key must have 1-255 visible ASCII characters.',
  );
}
