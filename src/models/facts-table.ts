import type { FieldMapping } from './field-mapping.ts';
import { laidOver } from './facts-of-request.ts';
import type { ModelFacts, PlainFacts } from './model-facts.ts';

export type Day = `${number}-${number}-${number}`;

export interface FactsOrigin {
  readonly source: string;
  /** The day on which the source was read, or just the month if the day is unknown. */
  readonly read: Day | `${number}-${number}`;
}

/** `origin` is given only if it differs from the table's. */
export type FactsRow = readonly [name: RegExp, facts: ModelFacts, origin?: FactsOrigin];

export interface Retirements extends FactsOrigin {
  readonly models: readonly (readonly [name: RegExp, on: Day])[];
}

export interface FactsTable {
  readonly origin: FactsOrigin;
  readonly retired?: Retirements;
  /** Models, fields and values that the vendor offers but this adapter does not. Each has a reason. */
  readonly unoffered?: readonly (readonly [name: RegExp, reason: string])[];
  readonly models: readonly FactsRow[];
  readonly others: ModelFacts;
}

export interface ModelOrigin extends FactsOrigin {
  readonly retirement?: FactsOrigin & { readonly on: Day };
}

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

/** For a provider that can serve any model, the facts come from the mapping in gateway.yaml. */
export type FactsSource = FactsTable | ((mapping: FieldMapping | undefined) => ModelFacts);

export interface Served {
  readonly upstream: string;
  readonly mapping?: FieldMapping | undefined;
  readonly facts?: ModelFacts | undefined;
}

export function servedFacts(source: FactsSource, { upstream, mapping, facts }: Served): ModelFacts {
  const known =
    typeof source === 'function' ? source(mapping) : (rowOf(source, upstream)?.[1] ?? source.others);
  return overlaid(known, facts);
}

function overlaid(facts: ModelFacts, { cases = [], ...over }: ModelFacts = {}): ModelFacts {
  const { cases: known = [], ...plain } = facts;
  const isNeeded = known.length > 0 && Object.keys(over).length > 0;
  const all = [...known, ...(isNeeded ? [{ facts: over }] : []), ...cases];
  return { ...laidOver(plain, over), ...(all.length === 0 ? {} : { cases: all }) };
}
