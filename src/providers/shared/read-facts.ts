import { defined } from '../../base/defined.ts';
import { shapeOf } from '../../base/image-sizes.ts';
import type { ImageShape } from '../../base/image-sizes.ts';
import { factsFor, passedOn } from '../../models/model-facts.ts';
import { servedFacts } from '../../models/facts-table.ts';
import type { FactsBasis, PlainFacts } from '../../models/model-facts.ts';
import type { FactsSource } from '../../models/facts-table.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import type { ProviderContext } from '../provider.ts';

export interface ReadImage {
  /** Its quality and further fields, by the vendor's names. */
  readonly passed: JsonObject;
  /** As it came; absent: it is not sent. */
  readonly size?: string;
  /** What the size says; empty: nothing that is sent. */
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
  const { fields = {}, sizes } = facts;
  const size = fields.size === true ? request.size : undefined;
  // Every vendor that has a quality calls it so.
  const quality = fields.quality === true ? request.quality : undefined;
  return {
    passed: { ...passedOn(request, facts), ...defined({ quality }) },
    ...defined({ size }),
    shape: size === undefined ? {} : (shapeOf(size, sizes) ?? { word: size }),
    facts,
  };
}

/** Parameters without rules of their own. */
export function plainParameters(...names: readonly string[]): NonNullable<PlainFacts['parameters']> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}
