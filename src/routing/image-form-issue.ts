import type { ImageRequest } from '../models/request.ts';
import type { RequestIssue } from '../providers/provider.ts';

export type ImageForm = 'url' | 'data' | 'file';

/**
 * Returns why the images cannot be sent, even after conversion. The gateway can download a URL to get its bytes, but
 * cannot turn bytes into a URL.
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
