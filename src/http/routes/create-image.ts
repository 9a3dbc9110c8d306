import { z } from 'zod';
import { documentedGenerationBody, imageGenerationBodySchema } from '../images/image-body.ts';
import { createImages, imageCreateErrors } from '../images/image-create.ts';
import type { ImageCreateDeps } from '../images/image-create.ts';
import { imageBody } from '../images/image-upload.ts';
import { createdTaskSchema } from '../presenters/created-task.ts';
import { imageAnswerSchema } from '../presenters/image.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function createImage(deps: ImageCreateDeps): Route {
  return keyRoute({
    operationId: 'createImage',
    summary: 'Generate images',
    description:
      'From a prompt and, on models that accept them, from reference images. Answers with the images; models whose upstream works asynchronously answer with a task, or with the images where `prefer: wait=N` (1-120 seconds) was long enough. `response_format` works with every model: what the upstream answers is converted; the result of a task holds links. Honours `Idempotency-Key`: the response is kept for 24 hours, so that one that was lost can be fetched again.',
    tag: 'Images',
    method: 'post',
    paths: ['/v1/images/generations'],
    input: z.object({ body: imageGenerationBodySchema }),
    documentedBody: documentedGenerationBody(deps.images.vendorFields),
    readBody: imageBody(deps.images.workspaces, deps.images.limits),
    success: {
      description: 'The images, or the task.',
      schema: z.union([imageAnswerSchema, createdTaskSchema]),
    },
    errors: imageCreateErrors,
    handle: ({ body, caller, meta }) =>
      createImages({ operation: 'generate', route: 'createImage', body, caller, meta }, deps),
  });
}
