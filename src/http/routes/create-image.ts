import { z } from 'zod';
import { anyFields } from '../body-fields.ts';
import { documentedGenerationBody, understandImage } from '../images/image-body.ts';
import { createImages, imageCreate } from '../images/image-create.ts';
import type { ImageCreateDeps } from '../images/image-create.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function createImage(deps: ImageCreateDeps): Route {
  return keyRoute({
    ...imageCreate(deps.images),
    operationId: 'createImage',
    scope: 'create',
    summary: 'Generate images',
    description:
      'From a prompt and, on models that accept them, from reference images. Answers with the images; models whose upstream works asynchronously answer with a task, or with the images where `prefer: wait=N` (1-120 seconds) was long enough. With `async: true`, or `prefer: respond-async`, every model answers with a task: a slow image is not cut off by a proxy, and is not lost with its connection. `response_format` works with every model: what the upstream answers is converted; the result of a task holds links. Honours `Idempotency-Key`: the response is kept for 24 hours, so that one that was lost can be fetched again. What was charged is also in the headers `x-mediary-cost` and, in US dollars, `x-litellm-response-cost`; what is held for a task in `x-mediary-hold`. Images that are answered at once are named by `x-mediary-image`, for their receipt. With `stream: true` the answer is a stream of the events of OpenAI, a comment line every 15 seconds while nothing comes, and at last `image_generation.completed` for each image (of edits `image_edit.…`), or an `error`; `partial_images` come where the upstream streams, and `x-mediary-warning` says so where it does not. Its image is a task: whoever loses the stream finds it by `x-mediary-image`.',
    paths: ['/v1/images/generations'],
    input: z.object({ body: anyFields }),
    documentedBody: documentedGenerationBody(deps.images.vendorFields),
    handle: ({ body, caller, meta }) =>
      createImages(
        { operation: 'generate', route: 'createImage', asked: understandImage(body), caller, meta },
        deps,
      ),
  });
}
