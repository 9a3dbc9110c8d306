import type { GatewayConfig } from '../config/gateway-file.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { ConfigChange } from '../base/config-change.ts';

const shownCharactersMax = 200;
/** Paths whose text values may be displayed. Any other text value may be a key, or an address that contains one. */
const shownTexts =
  /^(?:currency$|results\.(?:storage|directory)$|models\.|channels\.[^.]+\.(?:provider$|private_(?:link_)?networks$|models\.))/;

/** Returns the differences in file order, ignoring comments, white space and the order of entries. */
export function configChanges(before: GatewayConfig, after: GatewayConfig): readonly ConfigChange[] {
  return valueChanges({ ...before, hash: '' }, { ...after, hash: '' });
}

/** Compares files as written: without defaults, and with the names of secrets instead of their values. */
export function valueChanges(before: unknown, after: unknown): readonly ConfigChange[] {
  return compare(before, after, []);
}

function compare(before: unknown, after: unknown, path: readonly string[]): ConfigChange[] {
  const [was, is] = [entriesOf(before), entriesOf(after)];
  if (was !== undefined && is !== undefined) {
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return names.flatMap((name) => compare(was[name], is[name], [...path, name]));
  }
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ path: path.join('.'), kind, before: shown(before, path), after: shown(after, path) }];
}

function entriesOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { ...value };
  const entries = value.flatMap((item: unknown) => {
    const id = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;
    return typeof id === 'string' ? [[id, item] as const] : [];
  });
  return entries.length === value.length && value.length > 0 ? Object.fromEntries(entries) : undefined;
}

function shown(value: unknown, path: readonly string[]): string | undefined {
  if (value === undefined) return undefined;
  const isName = typeof value === 'string' && /^\$\{[^}]+\}$/.test(value);
  const place = path.map((name) => name.replaceAll('.', '-')).join('.');
  const isSafe = isName || typeof value === 'number' || typeof value === 'boolean' || shownTexts.test(place);
  return isSafe ? canonicalJson(value).slice(0, shownCharactersMax) : undefined;
}
