import { namesOf } from '../base/json-pointer.js';
import { isScalar, parseDocument, type Document } from 'yaml';
import { isRecord } from '../base/is-record.ts';
import { readYaml } from './read-yaml.ts';
import { draftSecretsIn, secretsIn, type WrittenSecret } from './secret-places.ts';

export type ChangedText = { readonly text: string } | { readonly violation: string };

type Path = readonly (string | number)[];

/** Stands for a secret in the text. A secret whose placeholder is unchanged keeps its value. */
const kept = '${kept}';

/**
 * Sets the value at each JSON pointer, or removes it if the new value is null. Preserves comments and order. A list
 * element is identified by id or index. An unknown id, or `-` as in RFC 6901, adds an element.
 */
export function editText(text: string, edits: Readonly<Record<string, unknown>>): ChangedText {
  const document = parseDocument(text);
  try {
    for (const [pointer, value] of Object.entries(edits)) {
      const found = locate(document, pointer);
      if (found === undefined) return { violation: `${pointer} does not exist` };
      if (value === null) document.deleteIn(found.path);
      else
        document.setIn(
          found.path,
          document.createNode(found.id === undefined ? value : { id: found.id, ...fieldsOf(value) }),
        );
    }
  } catch {
    return { violation: 'the file uses a YAML alias (`*name`) there; send the whole text instead' };
  }
  return readable(document);
}

export function concealText(text: string): string {
  const document = parseDocument(text);
  for (const { path } of secretsIn(document.toJS())) setScalar(document, path, kept);
  return written(document);
}

export function restoreText(text: string, before: string): string {
  const secrets = new Map(secretsIn(parseDocument(before).toJS()).map(({ place, value }) => [place, value]));
  const document = parseDocument(text);
  for (const { path, place, value } of secretsIn(document.toJS(), (one) => one === kept)) {
    setScalar(document, path, secrets.get(place) ?? value);
  }
  return written(document);
}

/** Passes each literal secret that a draft may change to `keep`, and replaces it with the returned text. */
export async function replaceSecrets(
  text: string,
  keep: (secret: WrittenSecret) => Promise<string>,
): Promise<string> {
  const document = parseDocument(text);
  const secrets = draftSecretsIn(document.toJS());
  if (secrets.length === 0) return text;
  for (const secret of secrets) setScalar(document, secret.path, await keep(secret));
  return written(document);
}

/** The violation never quotes the text, which may contain secrets. */
export function readText(text: string): ChangedText {
  const read = readYaml(text);
  if ('value' in read) return { text };
  return { violation: read.violations.map((violation) => violation.split(':\n', 1)[0]).join('; ') };
}

function readable(document: Document.Parsed): ChangedText {
  return readText(written(document));
}

function written(document: Document.Parsed): string {
  return document.toString({ lineWidth: 0 });
}

function setScalar(document: Document.Parsed, path: Path, value: string): void {
  const node = document.getIn(path, true);
  if (isScalar(node)) node.value = value;
}

function locate(
  document: Document.Parsed,
  pointer: string,
): { readonly path: Path; readonly id?: string } | undefined {
  if (!pointer.startsWith('/')) return undefined;
  const names = namesOf(pointer);
  const path: (string | number)[] = [];
  let at: unknown = document.toJS();
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    if (isLast && name === '-' && !isRecord(at)) {
      path.push(Array.isArray(at) ? at.length : 0);
    } else if (Array.isArray(at)) {
      const place = placeOf(at, name);
      if (place === undefined && !isLast) return undefined;
      path.push(place ?? at.length);
      if (place === undefined) return { path, id: name };
      at = at[place];
    } else {
      if (at !== undefined && at !== null && !isRecord(at)) return undefined;
      path.push(name);
      at = at?.[name];
    }
  }
  return { path };
}

function placeOf(entries: readonly unknown[], name: string): number | undefined {
  const byId = entries.findIndex((entry) => isRecord(entry) && entry['id'] === name);
  if (byId >= 0) return byId;
  return /^\d{1,4}$/.test(name) && Number(name) < entries.length ? Number(name) : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
