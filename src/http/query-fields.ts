import { z } from 'zod';

const decimal = /^-?\d{1,15}(?:\.\d{1,6})?$/;

/**
 * A number in a query. Only digits are one: an empty value or `0x10`, of which JavaScript would make a number, is not.
 * Give what is absent its default inside of `schema`.
 */
export function queryNumber<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (text) => (typeof text === 'string' && decimal.test(text) ? Number(text) : text),
    schema,
  );
}
