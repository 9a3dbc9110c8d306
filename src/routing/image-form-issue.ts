import type { ImageRequest } from '../models/request.ts';
import type { RequestIssue } from '../providers/provider.ts';

export type ImageForm = 'url' | 'data' | 'file';

/**
 * Returns why a channel that accepts these forms cannot accept the images even after conversion. Bytes can be converted
 * to any form except an address, and an address becomes bytes once fetched.
 */
export function imageFormIssue(
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
