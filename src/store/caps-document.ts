import type { Caps } from '../money/caps.ts';
import { defined } from '../base/defined.ts';

export interface CapsDocument {
  /** The model or end user. Undefined for a cap on the whole key, and for the default cap of end users. */
  readonly of?: string;
  readonly day?: bigint;
  readonly month?: bigint;
  readonly total?: bigint;
}

export function toCapsDocuments(whole: Caps | undefined, parts: ReadonlyMap<string, Caps>): CapsDocument[] {
  const named = [...parts].map(([of, caps]) => ({ of, ...caps }));
  return whole === undefined ? named : [{ ...whole }, ...named];
}

export function toCaps(documents: readonly CapsDocument[] = []): {
  readonly whole: Caps | undefined;
  readonly parts: ReadonlyMap<string, Caps>;
} {
  const caps = documents.map(({ of, day, month, total }) => [of, defined({ day, month, total })] as const);
  return {
    whole: caps.find(([of]) => of === undefined)?.[1],
    parts: new Map(caps.flatMap(([of, own]) => (of === undefined ? [] : [[of, own] as const]))),
  };
}
