import { defined } from '../../base/defined.ts';
import { shapeOf, type ImageShape } from '../../base/image-sizes.ts';
import { factsFor, passedOn, type FactsBasis } from '../../models/facts-of-request.ts';
import { servedFacts, type FactsSource } from '../../models/facts-table.ts';
import type { PlainFacts } from '../../models/model-facts.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import type { ProviderContext } from '../provider.ts';

export interface ReadImage {
  readonly passed: JsonObject;
  readonly size?: string;
  /** The size as interpreted by the model's facts. Empty if no size is sent. */
  readonly shape: ImageShape;
  readonly facts: PlainFacts;
}

type Context = Pick<ProviderContext, 'model' | 'mapping' | 'facts'>;

export function readFacts(
  request: FactsBasis,
  source: FactsSource,
  { model: upstream, mapping, facts }: Context,
): PlainFacts {
  return factsFor(request, servedFacts(source, { upstream, mapping, facts }));
}

export function readImage(request: ImageRequest, source: FactsSource, context: Context): ReadImage {
  const facts = readFacts(request, source, context);
  const { fields = {}, sizes } = facts;
  const size = fields.size === true ? request.size : undefined;
  // Every vendor with a quality field calls it `quality`.
  const quality = fields.quality === true ? request.quality : undefined;
  return {
    passed: { ...passedOn(request, facts), ...defined({ quality }) },
    ...defined({ size }),
    shape: size === undefined ? {} : (shapeOf(size, sizes) ?? { word: size }),
    facts,
  };
}

export function plainParameters(...names: readonly string[]): NonNullable<PlainFacts['parameters']> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}
