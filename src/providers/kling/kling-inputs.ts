import { z } from 'zod';
import { framesOf } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import type { KlingModel } from './kling-models.ts';

/** Which service renders a request, and the part that each of its media plays there. */
export interface KlingInputs {
  readonly service: 'text' | 'image' | 'multi-image' | 'omni';
  /** First and last. */
  readonly frames: readonly string[];
  readonly references: readonly string[];
  readonly video?: { readonly url: string; readonly role: VideoRole };
  readonly elements: readonly string[];
}

/** A video to take features from, or one to edit. */
export type VideoRole = 'feature' | 'base';

const referencesMax = 7;
const setMax = 4;

/** Source: the vendor's pages on its services. Only the services for references take a video. */
export function klingRoles({ omni, takesSet }: KlingModel): MediaRoles {
  const references = omni === 'never' ? (takesSet ? setMax : 0) : referencesMax;
  return {
    frames: 2,
    references,
    videos: omni === 'never' ? 0 : 1,
    audios: 0,
    besideFrames: omni === 'always' ? ['videos'] : [],
  };
}

export function klingInputs(request: VideoRequest, model: KlingModel): KlingInputs {
  const { references, videos, extra } = request;
  const frames = framesOf(request);
  const elements = readElements(extra) ?? [];
  const [url] = videos;
  const video = url === undefined ? undefined : { url, role: readRole(extra) ?? ('feature' as const) };
  const hasReferences = references.length + videos.length > 0;
  const isOmni = model.omni === 'always' || (model.omni === 'references' && hasReferences);
  const service = isOmni ? 'omni' : frames.length > 0 ? 'image' : hasReferences ? 'multi-image' : 'text';
  return { service, frames, references, ...defined({ elements, video }) };
}

const elementsSchema = z.array(z.object({ element_id: z.union([z.string().min(1), z.number().int()]) }));
const roleSchema = z.enum(['feature', 'base']);

/** `metadata.element_list`, in the legacy spelling for both standards; undefined: it is none. */
export function readElements({ element_list: list }: JsonObject): readonly string[] | undefined {
  if (list === undefined) return [];
  return elementsSchema.safeParse(list).data?.map(({ element_id }) => String(element_id));
}

/** `metadata.refer_type`, in the legacy spelling for both standards; undefined: it is absent, or not known. */
export function readRole({ refer_type: role }: JsonObject): VideoRole | undefined {
  return roleSchema.safeParse(role).data;
}
