import { z } from 'zod';

const decimal = /^-?\d{1,15}(?:\.\d{1,6})?$/;

/**
 * Accepts only digits, because JavaScript would also convert an empty value or `0x10`. Put a default for a missing
 * value into `schema`.
 */
export function queryNumber<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (text) => (typeof text === 'string' && decimal.test(text) ? Number(text) : text),
    schema,
  );
}
