import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { entryOf, insertionInto, type DraftEntry } from '../../src/config/draft-entries.ts';
import { namesOf } from '../../src/base/json-pointer.js';
import { editText } from '../../src/config/draft-text.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';

type Schema = any;

function edited(text: string, edits: Readonly<Record<string, unknown>>): unknown {
  const result = editText(text, edits);
  if ('violation' in result) throw new Error(result.violation);
  return parse(result.text);
}

function pointersIn(file: unknown, pointer: string): string[] {
  const { fields = [], entries = [], groups = [] } = entryOf(file, pointer) ?? {};
  return [...fields, ...entries, ...groups].map((one) => one.pointer);
}

function along(value: any, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === undefined) return value;
  return Array.isArray(value) ? [along(value[0], rest)] : { [name]: along(value[name], rest) };
}

const whole: Schema = z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' });

const notInForms: readonly (readonly [reason: string, places: RegExp])[] = [
  ['only the file may set it', /^\/(?:results|ledger\/heads|notify\/targets)\//],
  ['tasks and records name an entry by its id', /^\/(?:channels|models|channels\/\*\/credentials)\/\*\/id$/],
  ['it may be any JSON', /\/mapping\/(?:constants\/\*|fields\/\*\/(?:values\/\*|auto))$/],
  ['a text, a number and a flag differ in it', /\/(?:parameters\/\*\/values|when\/metadata\/\*)$/],
];

const alternativesOf = (schema: Schema): Schema[] => schema.anyOf ?? [schema];

function placesIn(schema: Schema, place = ''): string[] {
  return alternativesOf(schema).flatMap((one) => {
    if (one.properties !== undefined)
      return Object.entries(one.properties).flatMap(([name, inner]) => placesIn(inner, `${place}/${name}`));
    if (one.type === 'object') return placesIn(one.additionalProperties, `${place}/*`);
    const isOfMappings =
      one.type === 'array' && alternativesOf(one.items).some(({ type }) => type === 'object');
    return isOfMappings ? placesIn(one.items, `${place}/*`) : [place];
  });
}

function sample(schema: Schema, prefersMappings: boolean): unknown {
  const all = alternativesOf(schema);
  const mapping = all.find(({ type }) => type === 'object');
  if (mapping !== undefined && (prefersMappings || all.length === 1)) {
    if (mapping.properties === undefined)
      return {
        [mapping.propertyNames.enum?.[0] ?? 'x']: sample(mapping.additionalProperties, prefersMappings),
      };
    return Object.fromEntries(
      Object.entries(mapping.properties).map(([name, inner]) => [name, sample(inner, prefersMappings)]),
    );
  }
  const [first] = all;
  const item = first.type === 'array' ? sample(first.items, prefersMappings) : undefined;
  return item === undefined ? undefined : [item];
}

function allPointers(file: unknown, pointer = ''): readonly string[] {
  const below = entryOf(file, pointer)?.entries ?? [];
  return [pointer, ...below.flatMap((one) => allPointers(file, one.pointer))];
}

function allEntries(file: unknown): readonly DraftEntry[] {
  return allPointers(file).flatMap((pointer) => entryOf(file, pointer) ?? []);
}

const samples = [true, false].map((prefersMappings) => sample(whole, prefersMappings));
const found = samples.flatMap((file) => allEntries(file).flatMap(({ fields }) => fields));

function groupPlacesIn(schema: Schema, place = ''): string[] {
  return alternativesOf(schema).flatMap((one) => {
    if (one.properties !== undefined)
      return Object.entries(one.properties).flatMap(([name, inner]) =>
        groupPlacesIn(inner, `${place}/${name}`),
      );
    if (one.type === 'array') {
      const isOfMappings = alternativesOf(one.items).some(({ type }) => type === 'object');
      return isOfMappings ? [place, ...groupPlacesIn(one.items, `${place}/*`)] : [];
    }
    if (one.type !== 'object') return [];
    const isFree = one.propertyNames?.enum === undefined;
    return [...(isFree ? [place] : []), ...groupPlacesIn(one.additionalProperties, `${place}/*`)];
  });
}

/**
 * The elements of these groups can be any JSON, or one of several scalar types, so there is no form for editing them.
 */
const notInGroups = [/\/mapping\/(?:constants|fields\/\*\/values)$/, /\/when\/metadata$/];
const patternOf = (place: string) => new RegExp(`^${place.replaceAll('*', '[^/]+')}$`);

describe('the forms of the draft', () => {
  it('edit every value of the schema, except some for a reason', () => {
    const pointers = [...new Set(found.map(({ pointer }) => pointer))];
    const places = [...new Set(placesIn(whole))];
    expect(places.length).toBeGreaterThan(200);
    const isEdited = (place: string) => {
      return pointers.some((pointer) => patternOf(place).test(pointer));
    };
    const isExcused = (place: string) => notInForms.some(([, places]) => places.test(place));
    expect(places.filter((place) => !isEdited(place) && !isExcused(place))).toEqual([]);
    expect(places.filter((place) => isEdited(place) && isExcused(place))).toEqual([]);
    const needless = notInForms.filter(([, excused]) => !places.some((place) => excused.test(place)));
    expect(needless).toEqual([]);
  });

  it('explain each field and each list', () => {
    const groups = samples.flatMap((file) => allEntries(file).flatMap((entry) => entry.groups));
    const silent = [...found, ...groups].filter(({ description }) => description === '');
    expect([...new Set(silent.map(({ pointer }) => pointer))]).toEqual([]);
  });

  it('add an element to each list and mapping of the schema, and remove it', () => {
    const tried = new Set<string>();
    const entries = samples.flatMap((file) => allPointers(file).map((pointer) => ({ file, pointer })));
    for (const { file, pointer: entry } of entries) {
      for (const { pointer, key } of entryOf(file, entry)?.groups ?? []) {
        if (tried.has(pointer)) continue;
        tried.add(pointer);
        const text = stringify(along(file, namesOf(pointer)));
        const before = parse(text);
        const name = key === 'none' ? undefined : 'new.one';
        const inserted = insertionInto(before, { pointer, name });
        if ('violation' in inserted) throw new Error(inserted.violation);
        const after = edited(text, inserted.set);
        const shown = pointersIn(before, entry);
        const [added = ''] = pointersIn(after, entry).filter((one) => !shown.includes(one));
        expect([pointer, added.startsWith(`${pointer}/`)]).toEqual([pointer, true]);
        expect([pointer, edited(stringify(after), { [added]: null })]).toEqual([pointer, before]);
        if (key === 'none') continue;
        const again = insertionInto(after, { pointer, name });
        expect('violation' in again && again.violation).toMatch(/exists already/);
      }
    }
    const places = [...new Set(groupPlacesIn(whole))];
    const isTried = (place: string) => [...tried].some((pointer) => patternOf(place).test(pointer));
    const isExcused = (place: string) =>
      notInGroups.some((excused) => excused.test(place)) ||
      notInForms.some(([, only]) => only.test(`${place}/`));
    expect(places.filter((place) => !isTried(place) && !isExcused(place))).toEqual([]);
    expect(places.filter((place) => isTried(place) && isExcused(place))).toEqual([]);
  });

  it('begin an element with the lists and mappings that it must have', () => {
    const insert = (pointer: string, name?: string) =>
      insertionInto({ channels: [], models: [] }, { pointer, name });
    expect(insert('/channels', 'one')).toEqual({
      set: { '/channels/-': { id: 'one', credentials: [], models: {} } },
    });
    expect(insert('/models', 'clip')).toEqual({ set: { '/models/-': { id: 'clip', price: { lines: [] } } } });
    for (const [pointer, name] of [
      ['/channels', undefined],
      ['/channels', '-'],
      ['/retention', 'x'],
      ['/currency', 'x'],
      ['/notify/targets', 'x'],
      ['/models/none/price/lines', undefined],
    ] as const)
      expect('violation' in insert(pointer, name)).toBe(true);
  });

  it('know what the schema says about a field', () => {
    const field = (name: string) => found.find(({ pointer }) => pointer.endsWith(name));
    expect(field('/enabled')).toMatchObject({ type: 'boolean', fallback: true, isRequired: false });
    expect(field('/timeouts/poll_ms')).toMatchObject({ type: 'number', fallback: 20_000 });
    expect(field('/api_key')).toMatchObject({ type: 'secret', isRequired: true });
    expect(field('/kind')).toMatchObject({ type: 'choice', options: ['video', 'image'] });
    expect(field('/hold/multiplier')).toMatchObject({ type: 'text', fallback: '1' });
    expect(field('/verify_hour')).toMatchObject({ type: 'number', fallback: 3 });
    expect(field('/priority')?.description).toBe('Higher priorities come first');
  });
});
