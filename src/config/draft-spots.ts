import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import { pointerTo } from '../base/json-pointer.js';
import { fileSchema } from './gateway-schema.ts';
import { isOfFile, isSecretPlace } from './secret-places.ts';

/** How a form edits the value. A number may also be a word that the schema allows, such as `off`. */
export type FieldType = 'text' | 'number' | 'boolean' | 'choice' | 'secret' | 'texts' | 'numbers';

type Schema = z.core.JSONSchema.BaseSchema;

export interface Spot {
  readonly pointer: string;
  readonly path: readonly (string | number)[];
  readonly alternatives: readonly Schema[];
  readonly description: string;
  readonly isRequired: boolean;
  readonly isElement: boolean;
  readonly fallback: unknown;
  readonly value: unknown;
}

let jsonSchema: Schema | undefined;

export function spotAt(file: unknown, pointer: string): Spot | undefined {
  jsonSchema ??= z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' });
  const root = { pointer: '', path: [], isRequired: true, isElement: false, fallback: undefined };
  let spot: Spot | undefined = spotOf(jsonSchema, { ...root, value: file });
  while (spot !== undefined && spot.pointer !== pointer) {
    spot = partsOf(spot).find((part) => `${pointer}/`.startsWith(`${part.pointer}/`));
  }
  return spot;
}

/** Omits parts that can be set only in the file. */
export function partsOf(spot: Spot): readonly Spot[] {
  const parts = isListed(spot) ? elementsOf(spot) : valuesOf(spot);
  return parts.filter(({ pointer }) => !isOfFile(pointer) && !isIdOfEntry(spot, pointer));
}

/** An entry's id cannot be edited, because tasks and records refer to it. */
function isIdOfEntry({ pointer, isElement }: Spot, part: string): boolean {
  return isElement && part === `${pointer}/id`;
}

/**
 * Returns undefined for anything but a list or mapping. Also returns undefined if a form already offers all names of
 * the mapping, or if elements may be any JSON, which no form can edit.
 */
export function elementOf(spot: Spot): Spot | undefined {
  const mapping = mappingOf(spot);
  const isFree = mapping?.properties === undefined && offeredIn(mapping).length === 0;
  const others = isFree ? mapping?.additionalProperties : undefined;
  const schema = isListed(spot) ? itemsOf(spot) : others;
  if (!isSchema(schema)) return undefined;
  const pointer = `${spot.pointer}/-`;
  const path = [...spot.path, '-'];
  const nothing = { isRequired: true, isElement: true, fallback: undefined, value: undefined };
  const element = spotOf(schema, { pointer, path, ...nothing });
  return typeOf(element) === undefined && mappingOf(element) === undefined ? undefined : element;
}

function itemsOf({ alternatives }: Spot): Schema | undefined {
  const items = alternatives.find(({ type }) => type === 'array')?.items;
  return isSchema(items) ? items : undefined;
}

function offeredIn(mapping: Schema | undefined): readonly string[] {
  const names = mapping?.propertyNames;
  return isSchema(names) ? (names.enum ?? []).map(String) : [];
}

function elementsOf(spot: Spot): readonly Spot[] {
  const { pointer, path, value } = spot;
  const items = itemsOf(spot);
  if (!Array.isArray(value) || items === undefined) return [];
  return value.map((item: unknown, index) => {
    const id = isRecord(item) && typeof item['id'] === 'string' ? item['id'] : String(index);
    const at = { pointer: pointer + pointerTo(id), path: [...path, index] };
    return spotOf(items, { ...at, isRequired: false, isElement: true, fallback: undefined, value: item });
  });
}

function valuesOf(spot: Spot): readonly Spot[] {
  const mapping = mappingOf(spot);
  if (mapping === undefined) return [];
  const { properties, additionalProperties: others, required = [] } = mapping;
  const values = isRecord(spot.value) ? spot.value : {};
  const fallbacks = isRecord(spot.fallback) ? spot.fallback : {};
  const names =
    properties === undefined
      ? new Set([...offeredIn(mapping), ...Object.keys(values)])
      : Object.keys(properties);
  return [...names].flatMap((name) => {
    const schema = properties === undefined ? others : properties[name];
    if (!isSchema(schema)) return [];
    return [
      spotOf(schema, {
        pointer: spot.pointer + pointerTo(name),
        path: [...spot.path, name],
        isRequired: required.includes(name) && (spot.isRequired || spot.value !== undefined),
        isElement: properties === undefined,
        fallback: schema.default ?? fallbacks[name],
        value: Object.hasOwn(values, name) ? values[name] : undefined,
      }),
    ];
  });
}

function spotOf(schema: Schema, spot: Omit<Spot, 'alternatives' | 'description'>): Spot {
  const alternatives = (schema.anyOf ?? [schema]).filter(isSchema);
  return { ...spot, alternatives, description: schema.description ?? '' };
}

export function mappingOf({ alternatives }: Spot): Schema | undefined {
  return alternatives.find(({ type }) => type === 'object');
}

export function isListed({ alternatives, value }: Spot): boolean {
  const isList = ({ type }: Schema): boolean => type === 'array';
  return alternatives.every(isList) || (Array.isArray(value) && alternatives.some(isList));
}

/** Returns undefined if no single input can edit the value, because it has parts or may be anything. */
export function typeOf(spot: Spot): FieldType | undefined {
  if (isRecord(spot.value)) return undefined;
  if (!isListed(spot)) return isSecretPlace(spot.pointer) ? 'secret' : scalarType(spot.alternatives);
  const items = itemsOf(spot);
  const type = items === undefined ? undefined : scalarType(items.anyOf?.filter(isSchema) ?? [items]);
  if (type === 'number') return 'numbers';
  return type === 'text' || type === 'choice' ? 'texts' : undefined;
}

function scalarType(alternatives: readonly Schema[]): 'text' | 'number' | 'boolean' | 'choice' | undefined {
  const types = new Set(alternatives.flatMap(({ type }) => type ?? []));
  if (types.has('boolean')) return types.size === 1 ? 'boolean' : undefined;
  if (alternatives.some((one) => one.enum !== undefined)) return 'choice';
  // Decimals are strings that may also be written as numbers.
  const isText = alternatives.some((one) => [one.type].flat().includes('string') && one.const === undefined);
  if (isText) return 'text';
  return types.has('number') || types.has('integer') ? 'number' : undefined;
}

function isSchema(schema: unknown): schema is Schema {
  return isRecord(schema);
}
