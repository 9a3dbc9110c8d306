import { shapeOf } from '../../domain/image-sizes.ts';
import type { ImageShape } from '../../domain/image-sizes.ts';
import { factsFor, passedOn, servedFacts } from '../../domain/model-facts.ts';
import type { FactsBasis, FactsSource, PlainFacts } from '../../domain/model-facts.ts';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import type { ProviderContext } from '../provider.ts';

export interface ReadImage {
  /** Further fields of the request, by the vendor's names. */
  readonly passed: JsonObject;
  /** What its size says; empty: it names none. */
  readonly shape: ImageShape;
  readonly facts: PlainFacts;
}

type Context = Pick<ProviderContext, 'model' | 'mapping' | 'facts'>;

/** The facts of the model that hold for a request. */
export function readFacts(
  request: FactsBasis,
  source: FactsSource,
  { model: upstream, mapping, facts }: Context,
): PlainFacts {
  return factsFor(request, servedFacts(source, { upstream, mapping, facts }));
}

/** What the facts of the model make of a request. */
export function readImage(request: ImageRequest, source: FactsSource, context: Context): ReadImage {
  const facts = readFacts(request, source, context);
  const { size } = request;
  const shape = size === undefined ? {} : (shapeOf(size, facts.sizes) ?? { word: size });
  return { passed: passedOn(request, facts), shape, facts };
}

/** Parameters without rules of their own. */
export function plainParameters(...names: readonly string[]): NonNullable<PlainFacts['parameters']> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}
