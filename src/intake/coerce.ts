import { z } from 'zod';

export type Types = ReadonlyMap<string, 'number' | 'boolean'>;

export function typesOf(shape: Readonly<Record<string, z.core.$ZodType>>, prefix = ''): Types {
  return new Map(
    Object.entries(shape).flatMap(([name, schema]) => {
      const kinds = kindsOf(schema);
      if (kinds.has('string')) return [];
      const kind = (['number', 'boolean'] as const).find((one) => kinds.has(one));
      return kind === undefined ? [] : [[`${prefix}${name}`, kind] as const];
    }),
  );
}

function kindsOf(schema: z.core.$ZodType): ReadonlySet<string> {
  if (schema instanceof z.ZodOptional) return kindsOf(schema.unwrap());
  if (schema instanceof z.ZodPipe)
    return kindsOf(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  if (schema instanceof z.ZodUnion)
    return new Set(schema.options.flatMap((option: z.core.$ZodType) => [...kindsOf(option)]));
  if (schema instanceof z.ZodNumber) return new Set(['number']);
  if (schema instanceof z.ZodBoolean) return new Set(['boolean']);
  return new Set(schema instanceof z.ZodString || schema instanceof z.ZodEnum ? ['string'] : []);
}

/** Accepts only ASCII digits. Digits in other scripts, and `1e5`, stay text, which the schema then rejects. */
const decimal = /^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$/;

export function coerced(value: unknown, type: 'number' | 'boolean' | undefined): unknown {
  if (typeof value !== 'string' || type === undefined) return value;
  if (type === 'number') return decimal.test(value) ? Number(value) : value;
  return value === 'true' ? true : value === 'false' ? false : value;
}

/** Returns the path of the first number that JavaScript cannot represent exactly. */
export function wildNumber(value: unknown, name: string): string | undefined {
  const left: [string, unknown][] = [[name, value]];
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    const [place, inner] = item;
    if (typeof inner === 'number' && Math.abs(inner) > Number.MAX_SAFE_INTEGER) return place;
    if (typeof inner !== 'object' || inner === null) continue;
    const isList = Array.isArray(inner);
    for (const [key, each] of Object.entries(inner))
      left.push([isList ? `${place}[${key}]` : `${place}.${key}`, each]);
  }
  return undefined;
}
