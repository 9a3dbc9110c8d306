import { z } from 'zod';
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

/**
 * Without an input type that says otherwise, one image is the first frame where the model does not accept references.
 */
export function klingInputs(request: VideoRequest, model: KlingModel): KlingInputs {
  const { inputType, images, videos, extra } = request;
  const elements = readElements(extra) ?? [];
  const [url] = videos;
  const rest = defined({
    elements,
    video: url === undefined ? undefined : { url, role: readRole(extra) ?? ('feature' as const) },
  });
  const isOmni =
    model.omni === 'always' || (model.omni === 'references' && inputType === 'reference' && !model.isLegacy);
  if (isOmni) {
    const areFrames = inputType === 'first_last_frame';
    return {
      service: 'omni',
      frames: areFrames ? images : [],
      references: areFrames ? [] : images,
      ...rest,
    };
  }
  if (images.length === 0) return { service: 'text', frames: [], references: [], ...rest };
  const isSet = model.isLegacy && inputType === 'reference' && images.length > 1;
  return isSet
    ? { service: 'multi-image', frames: [], references: images, ...rest }
    : { service: 'image', frames: images, references: [], ...rest };
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
