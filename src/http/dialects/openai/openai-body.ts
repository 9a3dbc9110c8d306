import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { GatewayError } from '../../../errors/errors.ts';
import { fileIdOf } from '../../../models/user-file.ts';
import { readImageFile } from '../../../images/reference-image.ts';
import { isRecord } from '../../body-fields.ts';
import type { ImageRouteDeps } from '../../deps.ts';
import type { BodyReader } from '../../bodies/consume-body.ts';
import { parseJsonText } from '../../bodies/json-scanner.ts';
import { jsonBody } from '../../body.ts';
import { exampleModels } from '../../example-models.ts';
import { imageBody } from '../../images/image-upload.ts';
import { UploadedFile, uploadedFile } from '../../images/uploaded-file.ts';
import type { RequestMeta } from '../../route.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import type { VideoBody } from '../../videos/video-body.ts';

/** It is kept with its request in one document of MongoDB, as base64. */
const referenceBytesMax = 8 * 1024 * 1024;

const reference = z
  .union(
    [uploadedFile, z.strictObject({ image_url: z.string().min(1) }), z.strictObject({ file_id: z.string() })],
    { error: 'must be a file, {"image_url"} with a URL or a data URL, or {"file_id"}' },
  )
  .meta({ description: 'The first frame: a file of at most 8 MiB, `{"image_url"}`, or `{"file_id"}`.' });

const fields = videoBodySchema.extend({ input_reference: reference.optional() });

/** Our own fields may stand beside those of the dialect. */
export const openaiCreateBody = z
  .preprocess((body, context) => {
    if (!isRecord(body)) return body;
    for (const [name, value] of Object.entries(body)) {
      if (!(value instanceof UploadedFile) || name === 'input_reference') continue;
      context.addIssue({ code: 'custom', path: [name], message: 'must not be a file' });
      return z.NEVER;
    }
    return unbracketed(body);
  }, fields)
  .meta({
    id: 'OpenaiVideoRequest',
    examples: [{ model: exampleModels.video, prompt: 'A paper boat on a rainy street', seconds: '5' }],
  });

export const openaiCreateFields: ReadonlySet<string> = new Set(Object.keys(fields.shape));

/** A form says `metadata[seed]` and `input_reference[image_url]` where JSON has an object, and has texts alone. */
function unbracketed(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  const nested: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(body)) {
    const [, outer, inner] = /^(metadata|input_reference)\[(\w+)\]$/.exec(name) ?? [];
    if (outer === undefined || inner === undefined) plain[name] = value;
    else (nested[outer] ??= {})[inner] = outer === 'metadata' ? readText(value) : value;
  }
  return { ...plain, ...nested };
}

function readText(text: unknown): unknown {
  const isWord = typeof text === 'string' && /^(?:-?\d{1,15}(?:\.\d{1,6})?|true|false)$/.test(text);
  return isWord ? parseJsonText(text) : text;
}

/** JSON, or a form. */
export function openaiBody({ workspaces, limits }: ImageRouteDeps): BodyReader {
  const form = imageBody(workspaces, limits);
  return {
    ...form,
    read: (context, scope) =>
      typeof context.is('multipart/form-data') === 'string'
        ? form.read(context, scope)
        : jsonBody.read(context, scope),
  };
}

/** The body of our own create. Throws GatewayError, which names fields of the dialect. */
export async function decodeOpenai(
  { input_reference: asked, ...body }: z.output<typeof fields>,
  meta: RequestMeta,
  images: ImageRouteDeps,
): Promise<VideoBody> {
  if (asked === undefined) return body;
  const url = asked instanceof UploadedFile ? await dataUrlOf(asked, meta, images) : urlOf(asked);
  return { ...body, images: [{ url, role: 'first_frame' }, ...(body.images ?? [])] };
}

function urlOf(asked: Exclude<z.output<typeof reference>, UploadedFile>): string {
  if ('image_url' in asked) return asked.image_url;
  const url = `asset://${asked.file_id}`;
  if (fileIdOf(url) !== undefined) return url;
  throw refuse('invalid_parameter', 'must name a file that `POST /v1/files` has stored, by its id');
}

async function dataUrlOf(file: UploadedFile, meta: RequestMeta, images: ImageRouteDeps): Promise<string> {
  if (file.bytes > referenceBytesMax)
    throw refuse('request_too_large', `may have at most ${referenceBytesMax} bytes`);
  const image = await readImageFile(file, images.limits.pixelsMax);
  if ('refused' in image) throw refuse('invalid_parameter', image.refused);
  // Its bytes, their base64, and the request that is sealed with it.
  meta.reserve(4 * file.bytes);
  return `data:${image.mediaType};base64,${(await readFile(file.path)).toString('base64')}`;
}

function refuse(code: 'invalid_parameter' | 'request_too_large', reason: string) {
  const param = 'input_reference';
  return new GatewayError(code, `The parameter ${param} ${reason}.`, { param });
}

/** What we call an image came as the reference. */
export function openaiName(ours: string): string {
  return ours === 'images' || ours === 'images[0]' ? 'input_reference' : ours;
}
