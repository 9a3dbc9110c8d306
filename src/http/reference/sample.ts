import { nameOf, type AnySchema, type Schema } from '../openapi-schemas.ts';
import type { Objects } from './document.ts';

/** The maximum depth. Deeper objects become `{}`. */
const depthMax = 6;

interface Sampling {
  readonly objects: Objects;
  readonly isShort: boolean;
}

export function sampleOf(schema: AnySchema, sampling: Sampling): unknown {
  return sample(schema, sampling, []);
}

function sample(schema: AnySchema, sampling: Sampling, within: readonly (string | undefined)[]): unknown {
  const { type, items, enum: words, ...resolved } = sampling.objects.resolve(schema);
  const given: unknown = resolved.examples?.[0] ?? resolved.default ?? resolved.const;
  if (given !== undefined) return given;
  if (words !== undefined) return words[0];
  const inner = [...within, nameOf(schema)];
  const alternative = fullest(resolved, sampling);
  if (alternative !== undefined) return sample(alternative, sampling, inner);
  const kind = [type ?? 'object'].flat()[0];
  if (kind === 'array')
    return items === undefined || isTooDeep(items, inner) ? [] : [sample(items, sampling, inner)];
  if (kind !== 'object') return scalar(kind, resolved);
  const required = new Set(resolved.required);
  const fields = Object.entries(resolved.properties ?? {}).filter(
    ([name, field]) => (required.has(name) || !sampling.isShort) && !isTooDeep(field, inner),
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, sample(field, sampling, inner)]));
}

function isTooDeep(schema: AnySchema, within: readonly (string | undefined)[]): boolean {
  const name = nameOf(schema);
  return within.length > depthMax || (name !== undefined && within.includes(name));
}

function fullest({ oneOf, anyOf, allOf }: Schema, { objects }: Sampling): AnySchema | undefined {
  const weight = (schema: AnySchema): number => {
    const { type, properties = {} } = objects.resolve(schema);
    return type === 'null' ? -1 : Object.keys(properties).length;
  };
  return [...(oneOf ?? []), ...(anyOf ?? []), ...(allOf ?? [])].toSorted(
    (one, other) => weight(other) - weight(one),
  )[0];
}

function scalar(kind: string | undefined, { minimum, description = '', format }: Schema): unknown {
  if (kind === 'boolean') return true;
  if (kind === 'null') return null;
  if (kind !== 'string')
    return description.includes('Unix seconds') ? 1_780_000_000 : Math.max(minimum ?? 1, 1);
  return format === 'uri' ? 'https://example.com' : '…';
}
