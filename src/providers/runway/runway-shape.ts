import { framesOf } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import type { RunwayModel, Shapes } from './runway-models.ts';

/** What a request renders, and from what. */
export interface RunwayInputs {
  readonly operation: 'text' | 'image' | 'references' | 'edit';
  readonly frames: readonly string[];
}

/** `metadata.refer_type: base` edits the video of a model that takes reference videos, too. */
export function runwayInputs(request: VideoRequest, model: RunwayModel): RunwayInputs {
  const { references, videos, audios, extra } = request;
  const frames = framesOf(request);
  const isEdit = videos.length > 0 && model.edit !== undefined;
  if (isEdit && (!model.references.includes('videos') || extra['refer_type'] === 'base'))
    return { operation: 'edit', frames: [] };
  if (frames.length > 0) return { operation: 'image', frames };
  return references.length + videos.length + audios.length > 0
    ? { operation: 'references', frames: [] }
    : { operation: 'text', frames: [] };
}

/** How many references fit is not known; a video to edit may have images beside it. */
export function runwayRoles({ frames, references, edit, needs }: RunwayModel): MediaRoles {
  const most = (isTaken: boolean): number => (isTaken ? Infinity : 0);
  const besideVideo = needs === 'video' && edit?.images === true;
  return {
    frames,
    references: most(references.includes('images') || besideVideo),
    videos: references.includes('videos') ? Infinity : edit === undefined ? 0 : 1,
    audios: most(references.includes('audios')),
  };
}

const ratioUnsaid = '16:9';

const resolutionUsual = '720p';

export function shapesOf({ shapes, imageShapes }: RunwayModel, operation: RunwayInputs['operation']): Shapes {
  return operation === 'image' ? (imageShapes ?? shapes) : shapes;
}

/** The resolutions of a model, first the one that a request without a word about it means. */
export function usualFirst(shapes: Shapes): readonly string[] {
  const sold = 'pairs' in shapes ? Object.keys(shapes.pairs) : shapes.resolutions;
  const others = sold.filter((resolution) => resolution !== resolutionUsual);
  return others.length < sold.length ? [resolutionUsual, ...others] : sold;
}

interface ShapeFields {
  readonly ratio?: string;
  readonly resolution?: string;
}

/** `ratio` and `resolution` of a request; undefined: the model has no such shape. */
export function shapeFields(
  request: VideoRequest,
  model: RunwayModel,
  operation: RunwayInputs['operation'],
): ShapeFields | undefined {
  if (operation === 'edit' && model.edit?.likeInput === true) return {};
  const resolution = request.resolution?.toLowerCase();
  const sold = shapesOf(model, operation);
  if (resolution !== undefined && !usualFirst(sold).includes(resolution)) return undefined;
  return 'pairs' in sold
    ? pairField(request, model, { sold: sold.pairs[resolution ?? usualFirst(sold)[0] ?? ''], operation })
    : wordFields(request, sold, operation);
}

function pairField(
  { resolution, ratio }: VideoRequest,
  { demandsRatio }: RunwayModel,
  {
    sold,
    operation,
  }: {
    readonly sold: Readonly<Record<string, string>> | string | undefined;
    readonly operation: RunwayInputs['operation'];
  },
): ShapeFields | undefined {
  if (typeof sold === 'string') return { ratio: sold };
  const said = ratio === 'adaptive' && !demandsRatio && operation !== 'text' ? undefined : ratio;
  if (resolution === undefined && said === undefined && !demandsRatio) return {};
  const pair = sold?.[said ?? ratioUnsaid];
  return pair === undefined ? undefined : { ratio: pair };
}

function wordFields(
  { resolution, ratio }: VideoRequest,
  { ratios }: { readonly ratios: readonly string[] },
  operation: RunwayInputs['operation'],
): ShapeFields | undefined {
  const offered = operation === 'text' ? ratios.filter((one) => one !== 'adaptive') : ratios;
  const sent = offered.find((one) => one === ratio);
  // The picture keeps the shape of its image, or has the one that the model prefers.
  const isFree = operation === 'image' && ratios.length === 0;
  const isOpen = ratio === undefined || isFree || (ratio === 'adaptive' && operation !== 'text');
  return sent === undefined && !isOpen
    ? undefined
    : defined({ resolution: resolution?.toLowerCase(), ratio: sent });
}
