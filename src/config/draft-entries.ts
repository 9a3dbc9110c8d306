import { isRecord } from '../base/is-record.ts';
import { pointerTo } from '../base/json-pointer.js';
import { formatPath } from './config-error.ts';
import { elementOf, isListed, mappingOf, partsOf, spotAt, typeOf } from './draft-spots.ts';
import type { FieldType, Spot } from './draft-spots.ts';

type Scalar = string | number | boolean;
type FieldValue = Scalar | Scalar[] | null;

export interface EntryField {
  readonly pointer: string;
  readonly name: string;
  /** As shown in violations, for example `channels[0].limits.polls_per_second`. */
  readonly path: string;
  readonly description: string;
  readonly type: FieldType;
  readonly options: readonly string[];
  readonly isRequired: boolean;
  readonly fallback: FieldValue;
  readonly value: FieldValue;
}

interface EntryGroup {
  readonly pointer: string;
  readonly name: string;
  readonly description: string;
  readonly key: 'id' | 'name' | 'none';
}

export interface DraftEntry {
  readonly fields: readonly EntryField[];
  readonly entries: readonly {
    readonly pointer: string;
    readonly name: string;
    /** False for an optional part that the file does not contain yet. */
    readonly isPresent: boolean;
  }[];
  readonly groups: readonly EntryGroup[];
  /** True for elements of a list or mapping, and for optional parts. */
  readonly isRemovable: boolean;
}

export interface Insertion {
  readonly pointer: string;
  readonly name?: string | undefined;
}

/**
 * List elements in the pointer are identified by id. The entry is derived entirely from the file's schema. Omits parts
 * that can be set only in the file.
 */
export function entryOf(file: unknown, pointer: string): DraftEntry | undefined {
  const spot = spotAt(file, pointer);
  if (spot === undefined || mappingOf(spot) === undefined || typeOf(spot) !== undefined) return undefined;
  const found = partsBelow(spot);
  return {
    fields: found.flatMap((part) => {
      const type = typeOf(part);
      const name = formatPath(part.path.slice(spot.path.length));
      return type === undefined ? [] : [{ ...fieldOf(part, type), name }];
    }),
    entries: found
      .filter((part) => typeOf(part) === undefined)
      .map((part) => ({
        pointer: part.pointer,
        name: nameBelow(spot, part),
        isPresent: part.value !== undefined,
      })),
    groups: groupsBelow(spot).map((part) => ({
      pointer: part.pointer,
      name: nameBelow(spot, part),
      description: part.description,
      key: keyOf(part),
    })),
    isRemovable: spot.value !== undefined && (spot.isElement || !spot.isRequired),
  };
}

/**
 * Returns the values to set, by JSON pointer. A new element contains the lists and mappings that the schema requires.
 */
export function insertionInto(
  file: unknown,
  { pointer, name }: Insertion,
): { readonly set: Readonly<Record<string, unknown>> } | { readonly violation: string } {
  const spot = spotAt(file, pointer);
  const element = spot === undefined || typeOf(spot) !== undefined ? undefined : elementOf(spot);
  if (spot === undefined || element === undefined)
    return { violation: `${pointer} is not a list or mapping to which an element can be added` };
  const key = keyOf(spot);
  if (key === 'none') return { set: { [`${pointer}/-`]: startOf(element) } };
  if (name === undefined || name === '' || name === '-')
    return { violation: `the new element of ${pointer} needs a name` };
  const at = pointer + pointerTo(name);
  if (partsOf(spot).some((part) => part.pointer === at)) return { violation: `${at} exists already` };
  const start = startOf(element);
  return key === 'name' || !isRecord(start)
    ? { set: { [at]: start } }
    : { set: { [`${pointer}/-`]: { id: name, ...start } } };
}

function startOf(element: Spot): unknown {
  if (isListed(element)) return [];
  if (mappingOf(element) === undefined) return '';
  const parts = partsOf(element).filter((part) => part.isRequired && typeOf(part) === undefined);
  return Object.fromEntries(parts.map((part) => [part.path.at(-1), startOf(part)]));
}

function keyOf(spot: Spot): EntryGroup['key'] {
  if (!isListed(spot)) return 'name';
  const element = elementOf(spot);
  return element !== undefined && mappingOf(element)?.properties?.['id'] !== undefined ? 'id' : 'none';
}

function nameBelow({ pointer }: Spot, part: Spot): string {
  return part.pointer.slice(pointer.length + 1).replaceAll('/', ' ');
}

function fieldOf(spot: Spot, type: FieldType): Omit<EntryField, 'name'> {
  const { pointer, path, description, isRequired } = spot;
  const options = type === 'choice' ? spot.alternatives.flatMap((one) => (one.enum ?? []).map(String)) : [];
  const values = { fallback: fieldValue(spot.fallback), value: fieldValue(spot.value) };
  return { pointer, path: formatPath(path), description, type, options, isRequired, ...values };
}

function fieldValue(value: unknown): FieldValue {
  return Array.isArray(value) ? value.flatMap((item) => scalar(item) ?? []) : scalar(value);
}

function scalar(value: unknown): Scalar | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function partsBelow(spot: Spot): readonly Spot[] {
  return partsOf(spot).flatMap((part) => {
    if (typeOf(part) !== undefined) return [part];
    if (isPassedThrough(part)) return partsBelow(part);
    return mappingOf(part) === undefined ? [] : [part];
  });
}

/**
 * Returns true if the part is not shown on its own. Lists and mappings with arbitrary names are shown as their elements,
 * and a mapping that is always present is shown as part of its parent.
 */
function isPassedThrough(spot: Spot): boolean {
  const { isElement, isRequired, fallback } = spot;
  if (isListed(spot) || mappingOf(spot)?.properties === undefined) return true;
  return !isElement && (isRequired || isRecord(fallback));
}

function groupsBelow(spot: Spot): readonly Spot[] {
  const passed = partsOf(spot).filter((part) => typeOf(part) === undefined && isPassedThrough(part));
  return passed.flatMap((part) => [...(elementOf(part) === undefined ? [] : [part]), ...groupsBelow(part)]);
}
