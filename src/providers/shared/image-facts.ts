import { shapeOf } from '../../domain/image-sizes.ts';
import type { ImageShape } from '../../domain/image-sizes.ts';
import { factsFor, passedOn, servedFacts } from '../../domain/model-facts.ts';
import type { FactsTable, PlainFacts } from '../../domain/model-facts.ts';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import type { ProviderContext } from '../provider.ts';

export interface ReadImage {
  /** Further fields of the request, by the vendor's names. */
  readonly passed: JsonObject;
  /** What its size says; empty: it names none. */
  readonly shape: ImageShape;
  readonly facts: PlainFacts;
}

/** What the facts of the model make of a request. */
export function readImage(
  request: ImageRequest,
  table: FactsTable,
  { model: upstream, facts: over }: Pick<ProviderContext, 'model' | 'facts'>,
): ReadImage {
  const served = servedFacts(table, { upstream, facts: over });
  const facts = factsFor(request, served);
  const { size } = request;
  const shape = size === undefined ? {} : (shapeOf(size, facts.sizes) ?? { word: size });
  return { passed: passedOn(request, served), shape, facts };
}

/** Parameters without rules of their own. */
export function plainParameters(...names: readonly string[]): NonNullable<PlainFacts['parameters']> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}
