import { framesOf } from '../../models/media-roles.ts';
import type { VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import type { Pairs, RunwayModel, Shapes } from './runway-models.ts';

export interface RunwayInputs {
  readonly operation: 'text' | 'image' | 'references' | 'edit' | 'extend';
  readonly frames: readonly string[];
}

/**
 * With `metadata.video_task: edit`, a video is edited even if the model also accepts reference videos. With `extend`,
 * it is continued.
 */
export function runwayInputs(request: VideoRequest, model: RunwayModel): RunwayInputs {
  const { references, videos, audios, extra } = request;
  const frames = framesOf(request);
  const isEdit = videos.length > 0 && model.edit !== undefined;
  if (isEdit && model.edit?.extends === true && extra['video_task'] === 'extend')
    return { operation: 'extend', frames: [] };
  if (isEdit && (!model.references.includes('videos') || extra['video_task'] === 'edit'))
    return { operation: 'edit', frames: [] };
  if (frames.length > 0) return { operation: 'image', frames };
  return references.length + videos.length + audios.length > 0
    ? { operation: 'references', frames: [] }
    : { operation: 'text', frames: [] };
}

export const secondsUnsaid = 5;
const ratioUnsaid = '16:9';

const resolutionUsual = '720p';

export function shapesOf({ shapes, imageShapes }: RunwayModel, operation: RunwayInputs['operation']): Shapes {
  return operation === 'image' ? (imageShapes ?? shapes) : shapes;
}

export function usualFirst(shapes: Shapes): readonly string[] {
  const sold = 'pairs' in shapes ? Object.keys(shapes.pairs) : shapes.resolutions;
  const others = sold.filter((resolution) => resolution !== resolutionUsual);
  return others.length < sold.length ? [resolutionUsual, ...others] : sold;
}

interface ShapeFields {
  readonly ratio?: string;
  readonly resolution?: string;
}

/** Values missing from the table are sent unchanged. */
export function shapeFields(
  request: VideoRequest,
  model: RunwayModel,
  operation: RunwayInputs['operation'],
): ShapeFields {
  if (operation === 'extend' || (operation === 'edit' && model.edit?.likeInput === true)) return {};
  const sold = shapesOf(model, operation);
  const isFollowed = request.ratio === 'adaptive' && operation !== 'text' && !model.demandsRatio;
  return 'pairs' in sold
    ? pairField({ ...request, ...(isFollowed ? { ratio: undefined } : {}) }, model, sold.pairs)
    : wordFields(request, sold, operation);
}

function pairField(
  { resolution, ratio }: { readonly resolution?: string; readonly ratio?: string | undefined },
  { demandsRatio }: RunwayModel,
  pairs: Pairs,
): ShapeFields {
  const named = resolution?.toLowerCase();
  const sold = pairs[named ?? usualFirst({ pairs })[0] ?? ''];
  if (typeof sold === 'string') return { ratio: sold };
  if (named === undefined && ratio === undefined && !demandsRatio) return {};
  const pair = sold?.[ratio ?? ratioUnsaid];
  return pair === undefined ? defined({ resolution: named, ratio }) : { ratio: pair };
}

function wordFields(
  { resolution, ratio }: VideoRequest,
  { ratios }: { readonly ratios: readonly string[] },
  operation: RunwayInputs['operation'],
): ShapeFields {
  // No ratio is sent if the output keeps the image's shape or the model chooses the shape.
  const isFree =
    (operation === 'image' && ratios.length === 0) || (ratio === 'adaptive' && !ratios.includes(ratio));
  return defined({ resolution: resolution?.toLowerCase(), ratio: isFree ? undefined : ratio });
}
