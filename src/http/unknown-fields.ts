import { z } from 'zod';
import { didYouMean } from '../base/nearest.ts';
import { isRecord } from '../base/is-record.ts';
import { invalidParameter } from '../errors/errors.ts';
import { shortName } from '../models/consumption.ts';
import type { InputSchema } from './route.ts';
import type { RawInput } from './validation.ts';

/**
 * Rejects fields and query parameters that the route does not read. A misspelled optional field of an operator, such
 * as a limit of a new key, must not be ignored. Throws GatewayError.
 */
export function refuseUnknownFields({ shape }: InputSchema, { query, body }: RawInput): void {
  const parameters = Object.keys(shape.query?.shape ?? {});
  const parameter = Object.keys(isRecord(query) ? query : {}).find((name) => !parameters.includes(name));
  if (parameter !== undefined) {
    const name = shortName(parameter);
    const sentence = `${name} is not a query parameter of this route.`;
    throw invalidParameter(name, `${sentence}${didYouMean(parameter, parameters)}`);
  }
  const field = shape.body === undefined ? undefined : unknownField(shape.body, body, '');
  if (field === undefined) return;
  const { place, name, known } = field;
  const param = within(place, shortName(name));
  const sentence = `${param} is not a field of ${place || 'the body'}.`;
  throw invalidParameter(param, `${sentence}${didYouMean(name, known)}`);
}

interface UnknownField {
  readonly place: string;
  readonly name: string;
  readonly known: readonly string[];
}

/** Finds the first field that the schema does not have. A schema that accepts any field has none. */
function unknownField(schema: z.core.$ZodType, value: unknown, place: string): UnknownField | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unknownField(schema.unwrap(), value, place);
  if (schema instanceof z.ZodPipe)
    return unknownField(schema.in instanceof z.ZodTransform ? schema.out : schema.in, value, place);
  if (schema instanceof z.ZodUnion) return unknownInAll(schema.options, value, place);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return firstOf(value.entries(), ([index, item]) =>
      unknownField(schema.element, item, `${place}[${index}]`),
    );
  if (!isRecord(value)) return undefined;
  if (schema instanceof z.ZodRecord)
    return firstOf(Object.entries(value), ([name, item]) =>
      unknownField(schema.valueType, item, within(place, shortName(name))),
    );
  return schema instanceof z.ZodObject ? unknownInObject(schema, value, place) : undefined;
}

function unknownInObject(
  { shape, def }: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
  place: string,
): UnknownField | undefined {
  const fields: Readonly<Record<string, z.core.$ZodType>> = shape;
  const known = Object.keys(fields);
  return firstOf(Object.entries(value), ([name, item]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined) return unknownField(field, item, within(place, name));
    return def.catchall === undefined || def.catchall instanceof z.ZodNever
      ? { place, name, known }
      : undefined;
  });
}

/** A field is unknown only if no option has it. */
function unknownInAll(
  options: readonly z.core.$ZodType[],
  value: unknown,
  place: string,
): UnknownField | undefined {
  const found = options.map((option) => unknownField(option, value, place));
  return found.includes(undefined) ? undefined : found[0];
}

function firstOf<Item, Found>(
  items: Iterable<Item>,
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function within(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}
