import { canonicalJson } from './canonical-json.ts';
import type { ConfigChange } from './config-change.ts';

const charactersMax = 200;

export function fieldChanges(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly ConfigChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((path) => {
    const [was, is] = [textOf(before[path]), textOf(after[path])];
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    return was === is ? [] : [{ path, kind, before: was, after: is } as const];
  });
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : canonicalJson(value).slice(0, charactersMax);
}
