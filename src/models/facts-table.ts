import type { FieldMapping } from './field-mapping.ts';
import { laidOver } from './model-facts.ts';
import type { ModelFacts, PlainFacts } from './model-facts.ts';

/** What a vendor's adapter knows of its models, from where and since when. */

/** In UTC. */
export type Day = `${number}-${number}-${number}`;

export interface FactsOrigin {
  /** An SDK with its version, or what its page is about. */
  readonly source: string;
  /** When it was read: the month where the day was not written down. */
  readonly read: Day | `${number}-${number}`;
}

/** `origin`: where it differs from that of the table. */
export type FactsRow = readonly [name: RegExp, facts: ModelFacts, origin?: FactsOrigin];

/** Models that the vendor shuts down, and the day on which it does: announced, or past. */
export interface Retirements extends FactsOrigin {
  readonly models: readonly (readonly [name: RegExp, on: Day])[];
}

/** A vendor's models by their names: the first pattern that fits counts, and `others` is for those it has not heard of. */
export interface FactsTable {
  readonly origin: FactsOrigin;
  readonly retired?: Retirements;
  readonly models: readonly FactsRow[];
  readonly others: ModelFacts;
}

/** Where the facts about a model come from, and until when the vendor serves it, if it has said so. */
export interface ModelOrigin extends FactsOrigin {
  readonly retirement?: FactsOrigin & { readonly on: Day };
}

/** Undefined: the facts are those of a mapping in gateway.yaml. */
export function originOf(table: FactsSource, model: string): ModelOrigin | undefined {
  if (typeof table === 'function') return undefined;
  const { source, read } = rowOf(table, model)?.[2] ?? table.origin;
  const { retired } = table;
  const on = retired?.models.find(([name]) => name.test(model))?.[1];
  return retired === undefined || on === undefined
    ? { source, read }
    : { source, read, retirement: { source: retired.source, read: retired.read, on } };
}

function rowOf({ models }: FactsTable, model: string): FactsRow | undefined {
  return models.find(([name]) => name.test(model));
}

/** Of all models of a table. */
export function parameterNames(source: FactsSource): string[] {
  if (typeof source === 'function') return [];
  const { models, others } = source;
  const rows = [others, ...models.map(([, facts]) => facts)];
  const all: PlainFacts[] = rows.flatMap(({ cases = [], ...plain }) => [
    plain,
    ...cases.map(({ facts }) => facts),
  ]);
  return [...new Set(all.flatMap(({ parameters = {} }) => Object.keys(parameters)))];
}

/** What a provider knows of its models: by their names, or by the mapping of one that serves any model. */
export type FactsSource = FactsTable | ((mapping: FieldMapping | undefined) => ModelFacts);

export interface Served {
  /** The upstream's name of the model. */
  readonly upstream: string;
  readonly mapping?: FieldMapping | undefined;
  /** What the configuration says of it. */
  readonly facts?: ModelFacts | undefined;
}

/** The facts of a model as one channel serves it. */
export function servedFacts(source: FactsSource, { upstream, mapping, facts }: Served): ModelFacts {
  const known =
    typeof source === 'function' ? source(mapping) : (rowOf(source, upstream)?.[1] ?? source.others);
  return overlaid(known, facts);
}

/** What the configuration says counts in every case. */
function overlaid(facts: ModelFacts, { cases = [], ...over }: ModelFacts = {}): ModelFacts {
  const { cases: known = [], ...plain } = facts;
  const isNeeded = known.length > 0 && Object.keys(over).length > 0;
  const all = [...known, ...(isNeeded ? [{ facts: over }] : []), ...cases];
  return { ...laidOver(plain, over), ...(all.length === 0 ? {} : { cases: all }) };
}
