import type { ServedModel } from '../config/gateway-file.ts';
import { imageFactsIssue } from '../domain/image-facts-check.ts';
import { servedFacts } from '../domain/model-facts.ts';
import type { ImageRequest } from '../domain/request.ts';
import type { ImageTaskProvider, RequestIssue, SynchronousImageProvider } from '../providers/provider.ts';

export type ImageForm = 'url' | 'data' | 'file';

/** What speaks against a request for images: the facts of the model first, then what the adapter alone knows. */
export function imageIssue(
  { facts, check }: Pick<SynchronousImageProvider, 'facts' | 'check'> | ImageTaskProvider,
  request: ImageRequest,
  served: ServedModel,
): RequestIssue | undefined {
  const { upstream, mapping } = served;
  return (
    (facts === undefined ? undefined : imageFactsIssue(request, servedFacts(facts, served))) ??
    check?.(request, upstream, mapping)
  );
}

/** Why a channel that answers at once cannot serve the request; undefined: it can. */
export function synchronousIssue(
  provider: Pick<SynchronousImageProvider, 'facts' | 'check' | 'imageForms'>,
  request: ImageRequest,
  served: ServedModel,
): RequestIssue | undefined {
  return imageIssue(provider, request, served) ?? imageFormIssue(request, provider.imageForms);
}

/**
 * Why a channel that accepts these forms cannot accept the request's images, whatever is converted; undefined: it can.
 * Bytes become any form but an address, and an address becomes bytes by fetching it.
 */
function imageFormIssue(
  { images, mask }: Pick<ImageRequest, 'images' | 'mask'>,
  forms: readonly ImageForm[],
): RequestIssue | undefined {
  const takesBytes = forms.includes('data') || forms.includes('file');
  if (takesBytes) return undefined;
  if (forms.length === 0 && images.length > 0)
    return { param: 'image', message: 'The model does not accept images.' };
  if (images.some(({ form }) => form !== 'url')) {
    return { param: 'image', message: 'The model accepts images as URLs only.' };
  }
  if (mask !== undefined && (forms.length === 0 || mask.form !== 'url')) {
    return { param: 'mask', message: 'The model does not accept a mask in this form.' };
  }
  return undefined;
}
