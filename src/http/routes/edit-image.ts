import { z } from 'zod';
import { anyFields } from '../body-fields.ts';
import { documentedEditBody, understandImage } from '../images/image-body.ts';
import { createImages, imageCreate, type ImageCreateDeps } from '../images/image-create.ts';
import { keyRoute, type Route } from '../route.ts';

export function editImage(deps: ImageCreateDeps): Route {
  return keyRoute({
    ...imageCreate(deps.images),
    operationId: 'editImage',
    scope: 'create',
    summary: 'Edit images',
    description:
      'Works like image generation but requires at least one reference image: a URL, a data URL, or a file in a form (`image`, `image[]`, `mask`).',
    paths: ['/v1/images/edits'],
    input: z.object({ body: anyFields }),
    documentedBody: documentedEditBody(deps.images.vendorFields),
    handle: ({ body, caller, meta }) =>
      createImages(
        { operation: 'edit', route: 'editImage', asked: understandImage(body), caller, meta },
        deps,
      ),
  });
}
