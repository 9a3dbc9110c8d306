import { z } from 'zod';
import { documentedEditBody, imageEditBodySchema } from '../images/image-body.ts';
import { createImages, imageCreateErrors } from '../images/image-create.ts';
import type { ImageCreateDeps } from '../images/image-create.ts';
import { imageBody } from '../images/image-upload.ts';
import { createdTaskSchema } from '../presenters/created-task.ts';
import { imageEventSchema } from '../presenters/image-event.ts';
import { eventStreamType } from '../event-stream.ts';
import { imageAnswerSchema } from '../presenters/image.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function editImage(deps: ImageCreateDeps): Route {
  return keyRoute({
    operationId: 'editImage',
    summary: 'Edit images',
    description:
      'Like image generation, with at least one reference image, given as a URL, a data URL, or a file of a form (`image`, `image[]`, `mask`).',
    tag: 'Images',
    method: 'post',
    paths: ['/v1/images/edits'],
    input: z.object({ body: imageEditBodySchema }),
    documentedBody: documentedEditBody(deps.images.vendorFields),
    readBody: imageBody(deps.images.workspaces, deps.images.limits),
    success: {
      description: 'The images, or the task.',
      schema: z.union([imageAnswerSchema, createdTaskSchema, imageEventSchema]),
      mediaType: ['application/json', eventStreamType],
    },
    errors: imageCreateErrors,
    handle: ({ body, caller, meta }) =>
      createImages({ operation: 'edit', route: 'editImage', body, caller, meta }, deps),
  });
}
