import type { ModelConfig } from '../config/gateway-file.ts';
import { defined } from '../base/defined.ts';
import { nameIn, resolveRoles } from '../models/media-roles.ts';
import { factsFor } from '../models/facts-of-request.ts';
import { fitVideoRequest, type NameOf } from '../models/model-rules.ts';
import type { AskedRequest, AskedVideo, GenerationRequest, VideoRequest } from '../models/request.ts';
import { capabilityFor, type Offers } from './capability.ts';
import { withShapeOfSize } from './size-shape.ts';

interface FitContext {
  readonly model: ModelConfig;
  readonly offers: Offers;
}

export interface Fitted {
  /** The request as received, except that a pixel size has been replaced by a resolution and a ratio. */
  readonly asked: AskedRequest;
  readonly request: GenerationRequest;
  readonly warnings: readonly string[];
  readonly nameOf: NameOf;
}

export function fitRequest(asked: AskedRequest, context: FitContext): Fitted {
  if (asked.kind === 'image') {
    const { named = {}, strict: _, ...request } = asked;
    return { asked, request, warnings: [], nameOf: (field) => named[field] ?? field };
  }
  const cast = resolveRoles(asked, takesReferences(asked, context));
  const nameOf = (field: string) => nameIn(cast.named, field);
  const shaped = withShapeOfSize(cast.request, { ...context, nameOf });
  const { request, warnings } = fitVideoRequest(shaped.request, context.model, nameOf);
  const { size: _, ...unsized } = asked;
  const { resolution, ratio, size } = shaped.request;
  return {
    asked: { ...unsized, ...defined({ resolution, ratio, size }) },
    request: withResolution(request, context),
    warnings: [...shaped.warnings, ...warnings],
    nameOf,
  };
}

/** Inactive channels are included, because their state must not change what a request means. */
function takesReferences({ extra }: AskedVideo, { model, offers }: FitContext): boolean {
  const isTaken = [...offers.values()].some(
    ({ facts }) => factsFor({ extra }, facts).media?.references !== 0,
  );
  return isTaken && model.input_types.includes('reference');
}

/**
 * Sets a missing resolution to the first listed one that an adapter renders, so that the price depends on what we send.
 * Leaves drafts alone, because they have their own resolution. Also leaves requests alone whose resolution no adapter
 * would send.
 */
function withResolution(request: VideoRequest, context: FitContext): VideoRequest {
  const { model, offers } = context;
  const [first] = model.resolutions;
  if (request.resolution !== undefined || request.draft === true || first === undefined) return request;
  const isSent = [...offers.values()].some(
    ({ facts }) => factsFor(request, facts).fields?.resolution === true,
  );
  if (!isSent) return request;
  const isRendered = (resolution: string): boolean =>
    [...offers.values()].some(
      (offer) => capabilityFor(offer, { ...request, resolution })?.issue === undefined,
    );
  return { ...request, resolution: model.resolutions.find(isRendered) ?? first };
}
