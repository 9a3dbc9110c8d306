import type { GatewayConfig } from '../config/gateway-file.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { ConfigChange } from '../base/config-change.ts';
import { listChanges } from './list-changes.ts';

const shownCharactersMax = 200;
/** How many characters of a long common prefix are shown, at most, before the first difference. */
const sharedCharactersMax = 40;
/** Texts at any other path may be a key, or a URL that contains one, so they are not displayed. */
const shownTexts =
  /^(?:currency$|results\.(?:storage|directory)$|models\.|channels\.[^.]+\.(?:provider$|private_(?:link_)?networks(?:\[\d+\])?$|models\.))/;

export function configChanges(before: GatewayConfig, after: GatewayConfig): readonly ConfigChange[] {
  return valueChanges({ ...before, hash: '' }, { ...after, hash: '' });
}

/** Compares files before defaults are applied. Secrets appear only by name. */
export function valueChanges(before: unknown, after: unknown): readonly ConfigChange[] {
  return compare(before, after, []);
}

function compare(before: unknown, after: unknown, path: readonly string[]): ConfigChange[] {
  const [was, is] = [entriesOf(before, after), entriesOf(after, before)];
  if (was !== undefined && is !== undefined) {
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return names.flatMap((name) => compare(was[name], is[name], [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, path);
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ path: path.join('.'), kind, ...shownPair(shown(before, path), shown(after, path)) }];
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: readonly string[],
): ConfigChange[] {
  return listChanges(before, after).flatMap(({ was, is }) => {
    const place = [...path.slice(0, -1), `${path.at(-1) ?? ''}[${is ?? was}]`];
    return compare(
      was === undefined ? undefined : before[was],
      is === undefined ? undefined : after[is],
      place,
    );
  });
}

/**
 * A list whose elements have ids is treated like an object. An empty list has no elements to inspect, so it is treated
 * like `other`.
 */
function entriesOf(value: unknown, other: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { ...value };
  if (value.length === 0 && Array.isArray(other) && other.length > 0)
    return entriesOf(other, undefined) === undefined ? undefined : {};
  const entries = value.flatMap((item: unknown) => {
    const id = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;
    return typeof id === 'string' ? [[id, item] as const] : [];
  });
  const named = Object.fromEntries(entries);
  return Object.keys(named).length === value.length && value.length > 0 ? named : undefined;
}

function shown(value: unknown, path: readonly string[]): string | undefined {
  if (value === undefined) return undefined;
  const isName = typeof value === 'string' && /^\$\{[^}]+\}$/.test(value);
  const place = path.map((name) => name.replaceAll('.', '-')).join('.');
  const isSafe = isName || typeof value === 'number' || typeof value === 'boolean' || shownTexts.test(place);
  return isSafe ? canonicalJson(value) : undefined;
}

/** If both texts share a long prefix, most of it is omitted so that the difference stays visible. */
function shownPair(
  before: string | undefined,
  after: string | undefined,
): Pick<ConfigChange, 'before' | 'after'> {
  const shared = before === undefined || after === undefined ? 0 : sharedStart(before, after);
  const from = shared > shownCharactersMax / 2 ? shared - sharedCharactersMax : 0;
  const cut = (text: string | undefined) =>
    text === undefined || text.length <= shownCharactersMax
      ? text
      : `${from > 0 ? '…' : ''}${text.slice(from, from + shownCharactersMax - 2)}${text.length > from + shownCharactersMax - 2 ? '…' : ''}`;
  return { before: cut(before), after: cut(after) };
}

function sharedStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
