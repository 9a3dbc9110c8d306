import { z } from 'zod';
import { anyFields } from '../body-fields.ts';
import { documentedGenerationBody, understandImage } from '../images/image-body.ts';
import { createImages, imageCreate, type ImageCreateDeps } from '../images/image-create.ts';
import { keyRoute, type Route } from '../route.ts';

export function createImage(deps: ImageCreateDeps): Route {
  return keyRoute({
    ...imageCreate(deps.images),
    operationId: 'createImage',
    scope: 'create',
    summary: 'Generate images',
    description:
      'Creates images from a prompt and, on models that accept them, from reference images. The response contains the images. If the upstream works asynchronously, the response contains a task instead, unless the images are ready within `prefer: wait=N` (1-120 seconds). If you send `async: true` or `prefer: respond-async`, the response is a task for every model. A slow image is then neither cut off by a proxy nor lost with its connection. `response_format` works with every model, because the gateway converts the upstream’s images. A task’s result contains links. Honours `Idempotency-Key`: the response is kept for 24 hours, so a lost response can be fetched again. The charge is also in the headers `x-mediary-cost` and, in US dollars, `x-litellm-response-cost`. `x-mediary-hold` contains the amount held for a task. `x-mediary-image` contains the id of synchronous images, which you need to get their receipt. If you send `stream: true`, the response is a stream of OpenAI events, with a comment line after every 15 seconds of silence. It ends with one `image_generation.completed` event for each image (`image_edit.…` for edits) or with an `error` event. `partial_images` are sent only if the upstream streams. If it does not, `x-mediary-warning` says so. The streamed image is a task. If you lose the stream, find the task by `x-mediary-image`.',
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
