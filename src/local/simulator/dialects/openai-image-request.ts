import { z } from 'zod';
import { check, parseJson, readForm, textsOf } from '../wire.ts';
import type { WireRequest } from '../wire.ts';
import { invalidValue, missingParameter, OpenAiError } from './openai-error.ts';
import type { OpenAiImageFamily } from './openai-image-models.ts';

const megabyte = 1024 * 1024;
const filesMax = 16;
const modelDefault = 'dall-e-2';

export type ImageKind = 'generations' | 'edits';

interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A body as it arrived, before its model is known. */
export interface RawImageRequest {
  readonly model: string;
  readonly prompt: string;
  readonly endUser: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: readonly Upload[];
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
export async function readRaw(request: WireRequest, kind: ImageKind): Promise<RawImageRequest> {
  const form = kind === 'edits' ? await readForm(request) : undefined;
  if (kind === 'edits' && form === undefined) {
    throw new OpenAiError(400, { message: 'The request body must be multipart/form-data.' });
  }
  const fields = form === undefined ? jsonFields(request) : textsOf(form);
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    model: text('model') === '' ? modelDefault : text('model'),
    prompt: text('prompt'),
    endUser: text('user'),
    fields,
    files: form === undefined ? [] : await readUploads(form),
  };
}

async function readUploads(form: FormData): Promise<Upload[]> {
  const uploads: Upload[] = [];
  for (const [name, value] of form) {
    if (typeof value !== 'string') uploads.push({ name, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return uploads;
}

function jsonFields(request: WireRequest): Record<string, unknown> {
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(request.body));
  if (parsed.success) return parsed.data;
  throw new OpenAiError(400, { message: 'We could not parse the JSON body of your request.' });
}

/** @throws {OpenAiError} 400 that names the parameter. */
export function readFields(raw: RawImageRequest, family: OpenAiImageFamily): ImageFields {
  const fields = check(fieldsSchema, raw.fields, ({ field, reason, isAbsent }) =>
    isAbsent ? missingParameter(field) : invalidValue(field, `Invalid '${field}': ${reason}.`),
  );
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
export function checkFiles(files: readonly Upload[], family: OpenAiImageFamily): number {
  const images = files.filter(({ name }) => name === 'image' || name === 'image[]');
  const mask = files.find(({ name }) => name === 'mask');
  if (images.length === 0) throw missingParameter('image');
  const isFirst = family.family === 'dall-e-2';
  if (images.length > (isFirst ? 1 : filesMax)) throw invalidValue('image', 'Too many images.');
  for (const { bytes } of images) {
    const format = sniffImage(bytes);
    if (format === undefined || (isFirst && format !== 'png')) {
      const supported = isFirst ? 'image/png' : 'image/jpeg, image/png, image/webp';
      throw new OpenAiError(400, {
        code: 'unsupported_file_mimetype',
        param: 'image',
        message: `Invalid file: supported are ${supported}.`,
      });
    }
    if (bytes.length >= (isFirst ? 4 : 50) * megabyte)
      throw invalidValue('image', 'The image file is too large.');
  }
  if (mask !== undefined && (sniffImage(mask.bytes) !== 'png' || mask.bytes.length >= 4 * megabyte)) {
    throw invalidValue('mask', 'The mask must be a png file of less than 4 MB.');
  }
  return images.length;
}

/** Format of an image file by its first bytes. */
function sniffImage(bytes: Buffer): 'png' | 'jpeg' | 'webp' | undefined {
  if (bytes.length > 8 && bytes.readUInt32BE(0) === 0x89504e47) return 'png';
  if (bytes.length > 3 && bytes.readUInt16BE(0) === 0xffd8) return 'jpeg';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : undefined;
}
