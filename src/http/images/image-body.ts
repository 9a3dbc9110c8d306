import { isRecord } from '../../base/is-record.ts';
import { z } from 'zod';
import type { ImageRequest, JsonValue } from '../../models/request.ts';
import { UploadedFile, uploadedFile } from '../../intake/uploaded-file.ts';
import { parseJsonText } from '../../intake/json-scanner.ts';
import { endUserCharactersMax } from '../../intake/end-user.ts';
import { typesOf, type Types } from '../../intake/coerce.ts';
import { imageNames, type Names } from '../../intake/names.ts';
import { understand, type Understood } from '../../intake/understand.ts';
import { parseInput } from '../validation.ts';
import { exampleModels } from '../example-models.ts';
import {
  callbackUrl,
  expiresAfterSeconds,
  isDeeperThan,
  model,
  prompt,
  withoutNulls,
  word,
} from '../body-fields.ts';

const extraDepthMax = 32;

const reference = z.union([z.string().min(1), uploadedFile], {
  error: 'must be an image URL, a data URL, or a file',
});
const references = z
  .union([reference, z.array(reference)], {
    error: 'must be an image URL, a data URL, a file, or an array of these',
  })
  .meta({ description: 'Reference images: URLs, data URLs (`data:image/<type>;base64,<data>`) or files.' });

/** A value from a JSON body is always valid JSON, so only its depth is checked. */
const anyJson = z
  .custom<JsonValue>((value) => !isDeeperThan(value, extraDepthMax), {
    error: `may be nested at most ${extraDepthMax} levels deep`,
  })
  .meta({ type: ['string', 'number', 'boolean', 'object', 'array'], items: {} });

/**
 * Several upstreams support these fields, but a model may accept only some of them. They have these types at the top
 * level and in `metadata`. `user` identifies the end user for caps and is also passed to upstreams.
 */
const passedOn = {
  style: word.optional(),
  background: word.optional(),
  moderation: word.optional(),
  output_format: word.optional(),
  output_compression: z.number().optional(),
  input_fidelity: word.optional(),
  negative_prompt: z.string().optional(),
  guidance_scale: z.number().optional(),
  seed: z.int().optional(),
  watermark: z.boolean().optional(),
  user: z.string().min(1).max(endUserCharactersMax).optional(),
  aspect_ratio: z.string().optional(),
};

const metadataFields = z
  .object({
    callback_url: callbackUrl,
    execution_expires_after: expiresAfterSeconds,
    ...passedOn,
  })
  .catchall(anyJson);

const metadataNames: ReadonlySet<string> = new Set(Object.keys(metadataFields.shape));

const metadata = z.preprocess((value, context) => {
  const parsed = typeof value === 'string' ? parseJsonText(value) : value;
  if (isRecord(parsed) && !(parsed instanceof UploadedFile)) return withoutNulls(parsed, metadataNames);
  context.addIssue({ code: 'custom', message: 'must be an object, or a string that contains a JSON object' });
  return z.NEVER;
}, metadataFields);

const shape = {
  model,
  prompt,
  image: references.optional(),
  mask: reference.optional(),
  n: z.int().min(1).optional(),
  size: word.optional().meta({ description: '`<width>x<height>`, or a name that the model lists.' }),
  quality: word.optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  async: z.boolean().optional().meta({
    description:
      'If true, the response is a task for every model, as with the header `prefer: respond-async`.',
  }),
  stream: z.boolean().optional().meta({
    description:
      'If true, the response is a stream of events. The image is a task, as with `async`. If the stream breaks, fetch the image by the id in the header `x-mediary-image`.',
  }),
  partial_images: z.int().min(0).max(3).optional().meta({
    description: 'The number of partial images to send, if the upstream streams. Used only with `stream`.',
  }),
  metadata: metadata.optional().meta({
    description:
      '`callback_url` and `execution_expires_after` are used only for tasks. The other fields may also be sent at the top level, which takes precedence.',
  }),
};

const fields = z.object({ ...shape, ...passedOn }).catchall(anyJson);

const anything = anyJson.optional();

const example = { model: exampleModels.image, prompt: 'A red cube', size: '1024x1024' };
const exampleImage =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAATUlEQVR42u3PQQkAAAgAseufzFhG8C0MVmBNvZaAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAwGUBXXKAtcSdyf4AAAAASUVORK5CYII=';

/**
 * Undocumented fields are also passed to upstreams, but a client generated from these types detects misspelt names.
 * @param vendorFields - The fields that only one vendor accepts.
 */
export function documentedGenerationBody(vendorFields: ReadonlySet<string>): z.ZodType {
  return z.object(documentedFields(vendorFields)).meta({ id: 'ImageGenerationRequest', examples: [example] });
}

/** @param partials - Whether the endpoint's streams can contain partial images. */
export function documentedWaitingBody(vendorFields: ReadonlySet<string>, partials: boolean): z.ZodType {
  const body = z.object(documentedFields(vendorFields)).omit({ async: true });
  return partials
    ? body.meta({ id: 'WaitingImageRequest', examples: [example] })
    : body
        .omit({ partial_images: true })
        .meta({ id: 'WaitingImageWithoutPartialsRequest', examples: [example] });
}

export function documentedEditBody(vendorFields: ReadonlySet<string>): z.ZodType {
  return z
    .object({ ...documentedFields(vendorFields), image: references })
    .meta({ id: 'ImageEditRequest', examples: [{ ...example, image: exampleImage }] });
}

function documentedFields(vendorFields: ReadonlySet<string>) {
  return {
    ...Object.fromEntries([...vendorFields].toSorted().map((name) => [name, anything])),
    ...shape,
    ...passedOn,
  };
}

const types: Types = new Map([
  ...typesOf(shape),
  ...typesOf(passedOn),
  ...typesOf(metadataFields.shape, 'metadata.'),
]);

/** Errors use the field names that the caller sent. */
export function understandImage(
  sent: Readonly<Record<string, unknown>>,
  names: Names = imageNames,
  fixed?: Readonly<Record<string, unknown>>,
): Understood {
  return understand(sent, { names, types }, fixed);
}

export function operationOf({ body }: Understood): ImageRequest['operation'] {
  return body['image'] === undefined ? 'generate' : 'edit';
}

const checkedBody = z.object({ body: fields });

/** Errors use our own field names. */
export function readImageBody({ body }: Understood): ImageBody {
  return parseInput(checkedBody, { params: {}, query: {}, body }).body;
}

export type ImageBody = z.output<typeof fields>;

/** The fields that the gateway itself reads. All others are passed to upstreams that support them. */
export const consumedImageFields: ReadonlySet<string> = new Set(Object.keys(shape));
