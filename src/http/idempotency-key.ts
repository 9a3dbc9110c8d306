import { z } from 'zod';
import { invalidParameter } from '../errors/errors.ts';
import type { RequestMeta } from './route.ts';

export const idempotencyHeader = z.object({ 'idempotency-key': z.string().optional() });

const keyPattern = /^[\x21-\x7e]{1,255}$/;

export function idempotencyKeyOf(meta: RequestMeta): string | undefined {
  const key = meta.header('idempotency-key');
  if (key === undefined || keyPattern.test(key)) return key;
  throw invalidParameter(
    'Idempotency-Key',
    'The header Idempotency-Key must consist of 1-255 visible ASCII characters.',
  );
}
