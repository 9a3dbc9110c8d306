import { readFileSync } from 'node:fs';

/**
 * Reads the request types of an SDK that Stainless has generated. Its declarations are regular: four spaces per level,
 * one field per line, and unions with ` | `. Anything else causes an error rather than a guess.
 */

export interface SdkField {
  readonly optional: boolean;
  readonly type: string;
}
export type SdkObject = ReadonlyMap<string, SdkField>;

/** Keys are paths in the namespace of the parameters, such as `Gen4_5` or `Gen4_5.PromptImage`. */
export type SdkTypes = ReadonlyMap<string, SdkObject>;

export function readSdkTypes(file: string, namespace: string): SdkTypes {
  const types = new Map<string, Map<string, SdkField>>();
  const open: { readonly name: string; readonly fields?: Map<string, SdkField> }[] = [];
  const start = `export declare namespace ${namespace} {`;
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*\*[^]*?\*\//g, '');
  const lines = text.slice(text.indexOf(start) + start.length).split('\n');
  for (const line of lines) {
    const [, kind, name] = /^ +(interface|namespace) (\w+) \{$/.exec(line) ?? [];
    const [, field, mark, type] = /^ +(\w+)(\??): (.+);$/.exec(line) ?? [];
    if (kind !== undefined && name !== undefined) {
      const path = [...open.map((one) => one.name), name].join('.');
      const fields = kind === 'interface' ? new Map<string, SdkField>() : undefined;
      if (fields !== undefined) types.set(path, fields);
      open.push({ name, ...(fields === undefined ? {} : { fields }) });
    } else if (field !== undefined && type !== undefined) {
      open.at(-1)?.fields?.set(field, { optional: mark === '?', type });
    } else if (/^ *\}$/.test(line)) {
      if (open.pop() === undefined) break;
    } else if (line.trim() !== '') {
      throw new Error(`${file}: ${line} is of no form that this reader knows`);
    }
  }
  return types;
}

export function membersOf(type: string): readonly string[] {
  return type.match(/(?:Array<[^>]*>|\([^)]*\)|'[^']*'|[^|\s])+/g) ?? [];
}

export function literalsOf(type: string): readonly string[] {
  return membersOf(type).flatMap((member) => /^'(.*)'$/.exec(member)?.[1] ?? []);
}

export function findContradictions(value: object, name: string, types: SdkTypes): readonly string[] {
  const fields = types.get(name);
  if (fields === undefined) return [`${name} is not declared`];
  const missing = [...fields].flatMap(([field, { optional }]) =>
    optional || Object.hasOwn(value, field) ? [] : [`${field} is missing`],
  );
  const wrong = Object.entries(value).flatMap(([field, sent]) => {
    const type = fields.get(field)?.type;
    if (type === undefined) return [`${field} is not declared`];
    return isOf(sent, type, types) ? [] : [`${field}: ${JSON.stringify(sent)} must be one of ${type}`];
  });
  return [...missing, ...wrong];
}

function isOf(value: unknown, type: string, types: SdkTypes): boolean {
  return membersOf(type).some((member) => isMember(value, member, types));
}

function isMember(value: unknown, member: string, types: SdkTypes): boolean {
  const items = /^Array<(.*)>$/.exec(member)?.[1];
  if (items !== undefined)
    return Array.isArray(value) && value.every((item: unknown) => isOf(item, items, types));
  if (member === 'unknown') return true;
  if (member === '(string & {})') return typeof value === 'string';
  if (/^(?:string|number|boolean)$/.test(member)) return typeof value === member;
  if (/^\d+$/.test(member)) return value === Number(member);
  if (member.startsWith("'")) return member === `'${String(value)}'`;
  return typeof value === 'object' && value !== null && findContradictions(value, member, types).length === 0;
}
