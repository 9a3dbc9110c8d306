import type { FieldMapping } from './field-mapping.ts';
import { laidOver } from './model-facts.ts';
import type { ModelFacts, PlainFacts } from './model-facts.ts';

/** The facts that an adapter knows about its vendor's models, with their source and date. */

/** A day in UTC. */
export type Day = `${number}-${number}-${number}`;

export interface FactsOrigin {
  /** An SDK with its version, or the subject of a page. */
  readonly source: string;
  /** The day on which it was read, or the month if the day was not recorded. */
  readonly read: Day | `${number}-${number}`;
}

/** `origin` is present if it differs from the origin of the table. */
export type FactsRow = readonly [name: RegExp, facts: ModelFacts, origin?: FactsOrigin];

/** The models that the vendor shuts down, with the day. The day may be past or announced. */
export interface Retirements extends FactsOrigin {
  readonly models: readonly (readonly [name: RegExp, on: Day])[];
}

/** The facts by patterns of model names. The first matching pattern counts; `others` covers unknown models. */
export interface FactsTable {
  readonly origin: FactsOrigin;
  readonly retired?: Retirements;
  /** Models, fields and values of the vendor that this adapter does not offer, each with the reason. */
  readonly unoffered?: readonly (readonly [name: RegExp, reason: string])[];
  readonly models: readonly FactsRow[];
  readonly others: ModelFacts;
}

/** The origin of the facts about a model, and the day of its shutdown if the vendor has announced one. */
export interface ModelOrigin extends FactsOrigin {
  readonly retirement?: FactsOrigin & { readonly on: Day };
}

/** Undefined: the facts come from a mapping in gateway.yaml. */
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

/** The names of the parameters of all models of a table. */
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

/** A table of facts, or, for a provider that serves any model, a function of the mapping in gateway.yaml. */
export type FactsSource = FactsTable | ((mapping: FieldMapping | undefined) => ModelFacts);

export interface Served {
  /** The upstream's name for the model. */
  readonly upstream: string;
  readonly mapping?: FieldMapping | undefined;
  /** The facts that the configuration states. */
  readonly facts?: ModelFacts | undefined;
}

/** The facts of a model as one channel serves it. */
export function servedFacts(source: FactsSource, { upstream, mapping, facts }: Served): ModelFacts {
  const known =
    typeof source === 'function' ? source(mapping) : (rowOf(source, upstream)?.[1] ?? source.others);
  return overlaid(known, facts);
}

/** Facts that the configuration states override those of the table, in every case of it. */
function overlaid(facts: ModelFacts, { cases = [], ...over }: ModelFacts = {}): ModelFacts {
  const { cases: known = [], ...plain } = facts;
  const isNeeded = known.length > 0 && Object.keys(over).length > 0;
  const all = [...known, ...(isNeeded ? [{ facts: over }] : []), ...cases];
  return { ...laidOver(plain, over), ...(all.length === 0 ? {} : { cases: all }) };
}
