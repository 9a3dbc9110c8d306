import { z } from 'zod';
import { parseMultipart, sniffImage, textFields } from '../multipart.ts';
import type { Part } from '../multipart.ts';
import { parseJson } from '../wire.ts';
import type { WireRequest } from '../wire.ts';
import { invalidValue, OpenAiError } from './openai-error.ts';
import type { OpenAiImageFamily } from './openai-image-models.ts';

const megabyte = 1024 * 1024;
const filesMax = 16;
const modelDefault = 'dall-e-2';

/** A body as it came, before its model is known. */
export interface RawImageRequest {
  readonly model: string;
  readonly prompt: string;
  readonly endUser: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: readonly Part[];
}

const numberOrText = (min: number, max: number) =>
  z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).pipe(z.int().min(min).max(max));

/** Multipart carries every value as text: numbers and flags are read from both. */
const fieldsSchema = z.object({
  prompt: z.string().min(1),
  n: numberOrText(1, 10).default(1),
  size: z.string().optional(),
  quality: z.string().optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  output_format: z.enum(['png', 'jpeg', 'webp']).optional(),
  output_compression: numberOrText(0, 100).optional(),
  background: z.enum(['transparent', 'opaque', 'auto']).optional(),
  moderation: z.enum(['auto', 'low']).optional(),
  stream: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
    .default(false),
  partial_images: numberOrText(0, 3).default(0),
  style: z.enum(['vivid', 'natural']).optional(),
  input_fidelity: z.enum(['high', 'low']).optional(),
  user: z.string().optional(),
});
export type ImageFields = z.infer<typeof fieldsSchema>;

/** @throws {OpenAiError} when the body cannot be read at all. */
export function readRaw(request: WireRequest, kind: 'generations' | 'edits'): RawImageRequest {
  const parts = kind === 'edits' ? parseMultipart(request.headers['content-type'], request.body) : undefined;
  if (kind === 'edits' && parts === undefined) {
    throw new OpenAiError(400, { message: 'The request body must be multipart/form-data.' });
  }
  const fields = parts === undefined ? jsonFields(request) : textFields(parts);
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    model: text('model') === '' ? modelDefault : text('model'),
    prompt: text('prompt'),
    endUser: text('user'),
    fields,
    files: (parts ?? []).filter(({ filename }) => filename !== undefined),
  };
}

function jsonFields(request: WireRequest): Record<string, unknown> {
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(request.body));
  if (parsed.success) return parsed.data;
  throw new OpenAiError(400, { message: 'We could not parse the JSON body of your request.' });
}

/** @throws {OpenAiError} 400 that names the parameter. */
export function readFields(raw: RawImageRequest, family: OpenAiImageFamily): ImageFields {
  const parsed = fieldsSchema.safeParse(raw.fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const param = String(issue?.path[0] ?? '');
    if (raw.fields[param] === undefined) {
      throw new OpenAiError(400, {
        code: 'missing_required_parameter',
        param,
        message: `Missing required parameter: '${param}'.`,
      });
    }
    throw invalidValue(param, `Invalid '${param}': ${issue?.message ?? 'not valid'}.`);
  }
  const fields = parsed.data;
  if (fields.prompt.length > family.promptCharactersMax) {
    const message = `Invalid 'prompt': maximum length ${family.promptCharactersMax}.`;
    throw new OpenAiError(400, { code: 'string_above_max_length', param: 'prompt', message });
  }
  if (fields.n > family.imagesMax)
    throw invalidValue('n', `Invalid 'n': at most ${family.imagesMax} for this model.`);
  if (fields.quality !== undefined && !family.qualities.includes(fields.quality)) {
    throw invalidValue(
      'quality',
      `Invalid value: '${fields.quality}'. Supported values are: ${family.qualities.join(', ')}.`,
    );
  }
  const only: Readonly<Record<OpenAiImageFamily['family'], readonly (keyof ImageFields)[]>> = {
    gpt: ['response_format', 'style'],
    'dall-e-2': [
      'output_format',
      'output_compression',
      'background',
      'moderation',
      'style',
      'input_fidelity',
    ],
    'dall-e-3': ['output_format', 'output_compression', 'background', 'moderation', 'input_fidelity'],
  };
  for (const param of only[family.family]) {
    if (fields[param] === undefined) continue;
    throw new OpenAiError(400, {
      code: 'unknown_parameter',
      param,
      message: `Unknown parameter: '${param}'.`,
    });
  }
  if (fields.stream && family.family !== 'gpt')
    throw invalidValue('stream', 'Streaming is not supported for this model.');
  if (fields.background === 'transparent' && fields.output_format === 'jpeg') {
    throw invalidValue('background', 'Transparent background needs png or webp.');
  }
  return fields;
}

/** @throws {OpenAiError} 400 about `image` or `mask`. */
export function checkFiles(files: readonly Part[], family: OpenAiImageFamily): number {
  const images = files.filter(({ name }) => name === 'image' || name === 'image[]');
  const mask = files.find(({ name }) => name === 'mask');
  if (images.length === 0) {
    throw new OpenAiError(400, {
      code: 'missing_required_parameter',
      param: 'image',
      message: "Missing required parameter: 'image'.",
    });
  }
  const isFirst = family.family === 'dall-e-2';
  if (images.length > (isFirst ? 1 : filesMax)) throw invalidValue('image', 'Too many images.');
  for (const { body } of images) {
    const format = sniffImage(body);
    if (format === undefined || (isFirst && format !== 'png')) {
      const supported = isFirst ? 'image/png' : 'image/jpeg, image/png, image/webp';
      throw new OpenAiError(400, {
        code: 'unsupported_file_mimetype',
        param: 'image',
        message: `Invalid file: supported are ${supported}.`,
      });
    }
    if (body.length >= (isFirst ? 4 : 50) * megabyte)
      throw invalidValue('image', 'The image file is too large.');
  }
  if (mask !== undefined && (sniffImage(mask.body) !== 'png' || mask.body.length >= 4 * megabyte)) {
    throw invalidValue('mask', 'The mask must be a png file of less than 4 MB.');
  }
  return images.length;
}
