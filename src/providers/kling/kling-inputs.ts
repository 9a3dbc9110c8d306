import { z } from 'zod';
import { framesOf } from '../../models/media-roles.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';

export interface KlingInputs {
  readonly service: 'text' | 'image' | 'multi-image' | 'omni' | 'motion';
  readonly frames: readonly string[];
  readonly references: readonly string[];
  /** The role is `feature` for a reference video and `base` for a video to edit. */
  readonly video?: { readonly url: string; readonly role: string };
  readonly elements: readonly string[];
}

/**
 * A name with a `v` before the version (`kling-v2-6`) or with `video` (`kling-video-o1`) belongs to the legacy
 * standard.
 */
export function isLegacyKling(model: string): boolean {
  return model.startsWith('kling-v');
}

export function klingInputs(request: VideoRequest, model: string): KlingInputs {
  const { references, videos, extra } = request;
  const frames = framesOf(request);
  const elements = readElements(extra) ?? [];
  const [url] = videos;
  const video = url === undefined ? undefined : { url, role: readRole(extra) };
  const service = serviceOf({ frames, references, video }, extra, model);
  return { service, frames, references, ...defined({ elements, video }) };
}

type Media = Pick<KlingInputs, 'frames' | 'references'> & { readonly video: KlingInputs['video'] };

/**
 * Decides which service renders the request. `metadata.character_orientation` selects the motion service, which applies
 * a video's motion to an image. The legacy standard's motion service is not supported.
 */
function serviceOf({ frames, references, video }: Media, extra: JsonObject, model: string) {
  const isLegacy = isLegacyKling(model);
  const isOmni = /-(?:omni|o1)$/.test(model);
  const isMoved = extra['character_orientation'] !== undefined && references.length > 0;
  if (isMoved && video !== undefined && !isLegacy && !isOmni) return 'motion';
  const isMixed = video !== undefined || (references.length > 0 && (!isLegacy || frames.length > 0));
  if (isMixed || isOmni) return 'omni';
  return frames.length > 0 ? 'image' : references.length > 0 ? 'multi-image' : 'text';
}

const elementsSchema = z.array(z.object({ element_id: z.union([z.string().min(1), z.number().int()]) }));

export function readElements({ element_list: list }: JsonObject): readonly string[] | undefined {
  if (list === undefined) return [];
  return elementsSchema.safeParse(list).data?.map(({ element_id }) => String(element_id));
}

const roles: Readonly<Record<string, string>> = { reference: 'feature', edit: 'base' };

function readRole({ video_task: task = 'reference' }: JsonObject): string {
  return typeof task === 'string' ? (roles[task] ?? task) : 'feature';
}
