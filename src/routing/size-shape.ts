import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import { overruled } from '../intake/warnings.ts';
import { factsFor } from '../models/facts-of-request.ts';
import { isIgnored, type NameOf, type VideoModelRules } from '../models/model-rules.ts';
import type { GenerationRequest, VideoRequest } from '../models/request.ts';
import { shapeOfPixels, shapesInWords, sizeOfShape, videoShapes } from '../models/video-shapes.ts';
import type { VideoShape } from '../models/video-shapes.ts';
import type { Offers } from './capability.ts';
import type { PlainFacts } from '../models/model-facts.ts';

interface Shaping {
  readonly model: VideoModelRules;
  /** Includes the offers of inactive channels, because a request must always mean the same thing. */
  readonly offers: Offers;
  readonly nameOf: NameOf;
}

interface Shaped {
  readonly request: VideoRequest;
  readonly warnings: readonly string[];
}

/**
 * Replaces a pixel size with the nearest resolution and ratio that the model renders. A resolution or ratio in the
 * request takes precedence.
 * @throws GatewayError for a size that the model does not support
 */
export function withShapeOfSize(request: VideoRequest, { model, offers, nameOf }: Shaping): Shaped {
  const { size, ...unsized } = request;
  if (size === undefined) return { request, warnings: [] };
  const factsOf = (pair: Partial<VideoShape>) =>
    [...offers.values()].map(({ facts }) => factsFor({ ...request, ...pair }, facts));
  const shapes = videoShapes(model, factsOf);
  const others = (shape: VideoShape) =>
    (['resolution', 'ratio'] as const).filter(
      (name) => (request[name] ?? shape[name]).toLowerCase() !== shape[name].toLowerCase(),
    );
  const agreeing = shapes.filter((shape) => others(shape).length === 0);
  const shape = shapeOfPixels(size, agreeing) ?? shapeOfPixels(size, shapes);
  const { resolution = shape?.resolution, ratio = shape?.ratio } = request;
  if (resolution === undefined || ratio === undefined) {
    if (isIgnored(model, 'resolution')) return { request: unsized, warnings: [nameOf('size')] };
    throw unknownSize(size, { model: model.id, shapes, param: nameOf('size') });
  }
  const winners = shape === undefined ? (['resolution', 'ratio'] as const) : others(shape);
  const sized = winners.length === 0 ? { size: shape?.size } : {};
  return {
    request: { ...unsized, resolution, ratio, ...defined(sized) },
    warnings: winners.length === 0 ? [] : [overruled(nameOf('size'), winners.map(nameOf))],
  };
}

export function shapeOfResult(
  size: string,
  { model, offers }: Pick<Shaping, 'model' | 'offers'>,
): VideoShape | undefined {
  const factsOf = (pair: Partial<VideoShape>) =>
    [...offers.values()].map(({ facts }) => factsFor({ ...pair, extra: {} }, facts));
  return shapeOfPixels(size, videoShapes(model, factsOf));
}

interface UnknownSize {
  readonly model: string;
  readonly shapes: readonly VideoShape[];
  readonly param: string;
}

function unknownSize(size: string, { model, shapes, param }: UnknownSize): GatewayError {
  const cure =
    shapes.length === 0
      ? 'Specify a resolution and a ratio, or leave both to the model.'
      : `It renders ${shapesInWords(shapes)}.`;
  return new GatewayError(
    'unsupported_parameter',
    `Model ${model} does not render ${size} for this request. ${cure}`,
    {
      param,
    },
  );
}

export function plannedShape(
  request: GenerationRequest,
  channels: readonly { readonly facts: PlainFacts }[],
): VideoShape | undefined {
  if (request.kind === 'image') return undefined;
  const { resolution, ratio } = request;
  const facts = channels.map((channel) => channel.facts);
  const isAsked = facts.every(({ fields }) => fields?.resolution === true && fields.ratio === true);
  const size = request.size ?? sizeOfShape(request, facts);
  return isAsked && resolution !== undefined && ratio !== undefined && size !== undefined
    ? { resolution, ratio, size }
    : undefined;
}
