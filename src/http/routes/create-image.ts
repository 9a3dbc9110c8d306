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
      'Creates images from a prompt and, on models that accept them, from reference images. The response contains the images. If the upstream works asynchronously, it contains a task instead, unless the images are ready within `prefer: wait=N` (1-120 seconds). With `async: true` or `prefer: respond-async`, the response is a task for every model, so that a slow image is neither cut off by a proxy nor lost with its connection. `response_format` works with every model, because the gateway converts the upstream’s images. The result of a task contains links. Honours `Idempotency-Key`: the response is kept for 24 hours, so that a lost response can be fetched again. The headers `x-mediary-cost` and, in US dollars, `x-litellm-response-cost` also contain the charge, and `x-mediary-hold` contains the amount held for a task. `x-mediary-image` contains the id of synchronous images, which you need for their receipt. With `stream: true` the response is a stream of OpenAI’s events, with a comment line every 15 seconds while nothing else is sent. It ends with `image_generation.completed` for each image (for edits `image_edit.…`) or with an `error`. `partial_images` are sent if the upstream streams; otherwise `x-mediary-warning` says that it does not. The streamed image is a task: if you lose the stream, find it by `x-mediary-image`.',
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
