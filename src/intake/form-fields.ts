import { GatewayError, invalidParameter } from '../errors/errors.ts';
import { parseJsonText } from './json-scanner.ts';
import type { UploadedFile } from './uploaded-file.ts';

type FormValue = string | UploadedFile;

export interface FormPart {
  readonly name: string;
  readonly value: FormValue;
}

interface Inner {
  readonly keys: readonly string[];
  readonly value: FormValue;
}

const nestedName = /^([^[\]]+)((?:\[\w*\]){1,3})$/;

/** `image[]` and repeated fields become lists. `metadata[seed]` and `images[0][image_url]` become objects. */
export function fieldsOfForm(parts: readonly FormPart[]): Record<string, unknown> {
  const fields = new Map<string, Inner[]>();
  for (const { name, value } of parts) {
    const [, outer = name, brackets = ''] = nestedName.exec(name) ?? [];
    if (name.includes('__proto__'))
      throw new GatewayError('invalid_json', 'A form field must not be named __proto__.');
    const keys = [...brackets.matchAll(/\[(\w*)\]/g)].map(([, key = '']) => key);
    fields.set(outer, [...(fields.get(outer) ?? []), { keys, value }]);
  }
  return Object.fromEntries([...fields].map(([name, inner]) => [name, assemble(name, inner)]));
}

function assemble(name: string, inner: readonly Inner[]): unknown {
  const [first] = inner;
  const plain = inner.filter(({ keys }) => keys.length === 0);
  if (plain.length === inner.length)
    return inner.length === 1 ? first?.value : inner.map(({ value }) => value);
  if (plain.length > 0)
    throw invalidParameter(name, `The parameter ${name} was sent both with and without brackets.`);
  const byKey = new Map<string, Inner[]>();
  inner.forEach(({ keys: [key = '', ...keys], value }, index) => {
    const place = key === '' ? `#${index}` : key;
    byKey.set(place, [...(byKey.get(place) ?? []), { keys, value }]);
  });
  const isList = [...byKey.keys()].every((key) => /^#?\d+$/.test(key));
  const values = [...byKey].map(([key, each]) => [key, assemble(`${name}[${key}]`, each)] as const);
  if (isList)
    return values.toSorted(([one], [other]) => position(one) - position(other)).map(([, value]) => value);
  return Object.fromEntries(
    name === 'metadata' ? values.map(([key, value]) => [key, readText(value)]) : values,
  );
}

const position = (key: string): number => Number(key.replace('#', ''));

/** Our schemas do not cover the models' own parameters, so numbers and booleans are recognised by their text. */
function readText(text: unknown): unknown {
  const isWord = typeof text === 'string' && /^(?:-?\d{1,15}(?:\.\d{1,6})?|true|false)$/.test(text);
  return isWord ? parseJsonText(text) : text;
}
