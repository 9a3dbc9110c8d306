import { canonicalJson } from '../base/canonical-json.ts';
import { isRecord } from '../base/is-record.ts';

export type ElementChange =
  | { readonly was: number; readonly is: number }
  | { readonly was: number; readonly is?: undefined }
  | { readonly was?: undefined; readonly is: number };

/** Replacing an element costs at most 1, which must be less than a removal and an insertion together. */
const insertionCost = 0.75;
/** An alignment takes quadratic time, so longer lists are compared only by index. */
const comparisonsMax = 40_000;

/** The elements have no ids, so the alignment with the fewest changes determines which ones correspond. */
export function listChanges(before: readonly unknown[], after: readonly unknown[]): ElementChange[] {
  const [was, is] = [before.map(elementOf), after.map(elementOf)];
  const isSame = (one: number, other: number) =>
    one >= 0 && other >= 0 && one < was.length && other < is.length && was[one]?.text === is[other]?.text;
  let start = 0;
  while (isSame(start, start)) start += 1;
  let end = 0;
  while (Math.min(was.length, is.length) - end > start && isSame(was.length - 1 - end, is.length - 1 - end))
    end += 1;
  const [old, fresh] = [was.slice(start, was.length - end), is.slice(start, is.length - end)];
  const changes = old.length * fresh.length > comparisonsMax ? byIndex(old, fresh) : aligned(old, fresh);
  return changes.map((change) => moved(change, start));
}

interface Element {
  readonly text: string;
  readonly members?: ReadonlyMap<string, string>;
}

function elementOf(value: unknown): Element {
  const text = canonicalJson(value);
  if (!isRecord(value)) return { text };
  return {
    text,
    members: new Map(Object.entries(value).map(([name, member]) => [name, canonicalJson(member)])),
  };
}

/** Returns a number from 0 for equal elements to 1 for elements with no equal members. */
function distance(one: Element, other: Element): number {
  if (one.text === other.text) return 0;
  if (one.members === undefined || other.members === undefined) return 1;
  const names = new Set([...one.members.keys(), ...other.members.keys()]);
  const equal = [...names].filter((name) => one.members?.get(name) === other.members?.get(name)).length;
  return 1 - equal / names.size;
}

function byIndex(old: readonly Element[], fresh: readonly Element[]): ElementChange[] {
  return Array.from({ length: Math.max(old.length, fresh.length) }, (_, at): ElementChange => {
    if (at >= fresh.length) return { was: at };
    return at >= old.length ? { is: at } : { was: at, is: at };
  }).filter(({ was = -1, is = -1 }) => old[was]?.text !== fresh[is]?.text);
}

interface Step {
  readonly cost: number;
  readonly by: 'end' | 'pair' | 'removal' | 'insertion';
}

/** Uses the Wagner–Fischer algorithm. Runs from the end so that the path can be read from the start. */
function aligned(old: readonly Element[], fresh: readonly Element[]): ElementChange[] {
  const width = fresh.length + 1;
  const steps = Array.from({ length: (old.length + 1) * width }, (): Step => ({ cost: 0, by: 'end' }));
  const stepAt = (was: number, is: number): Step | undefined => steps[was * width + is];
  const costAt = (was: number, is: number): number => stepAt(was, is)?.cost ?? Number.POSITIVE_INFINITY;
  for (let was = old.length; was >= 0; was -= 1) {
    for (let is = fresh.length; is >= 0; is -= 1) {
      const [one, other] = [old[was], fresh[is]];
      const choices: Step[] = [];
      if (one !== undefined && other !== undefined)
        choices.push({ cost: distance(one, other) + costAt(was + 1, is + 1), by: 'pair' });
      if (one !== undefined) choices.push({ cost: insertionCost + costAt(was + 1, is), by: 'removal' });
      if (other !== undefined) choices.push({ cost: insertionCost + costAt(was, is + 1), by: 'insertion' });
      const best = choices.reduce<Step | undefined>(
        (least, step) => (least !== undefined && least.cost <= step.cost ? least : step),
        undefined,
      );
      if (best !== undefined) steps[was * width + is] = best;
    }
  }
  const changes: ElementChange[] = [];
  let [was, is] = [0, 0];
  while (was < old.length || is < fresh.length) {
    const by = stepAt(was, is)?.by;
    if (by === 'pair' && old[was]?.text !== fresh[is]?.text) changes.push({ was, is });
    else if (by === 'removal') changes.push({ was });
    else if (by === 'insertion') changes.push({ is });
    if (by !== 'insertion') was += 1;
    if (by !== 'removal') is += 1;
  }
  return changes;
}

function moved({ was, is }: ElementChange, by: number): ElementChange {
  if (was === undefined) return { is: (is ?? 0) + by };
  return is === undefined ? { was: was + by } : { was: was + by, is: is + by };
}
