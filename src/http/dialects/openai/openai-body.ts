import { isRecord } from '../../../base/is-record.ts';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { GatewayError } from '../../../errors/errors.ts';
import { readImageFile } from '../../../images/reference-image.ts';
import type { ImageRouteDeps } from '../../deps.ts';
import type { BodyReader } from '../../bodies/consume-body.ts';
import { jsonBody } from '../../body.ts';
import { exampleModels } from '../../example-models.ts';
import { imageBody } from '../../images/image-upload.ts';
import { hasFile, UploadedFile, uploadedFile } from '../../../intake/uploaded-file.ts';
import type { RequestMeta } from '../../route.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import type { Understood } from '../../../intake/understand.ts';

/** The size is limited because the file is stored as base64 in its request's MongoDB document. */
const referenceBytesMax = 8 * 1024 * 1024;

const reference = z
  .union(
    [uploadedFile, z.strictObject({ image_url: z.string().min(1) }), z.strictObject({ file_id: z.string() })],
    { error: 'must be a file, {"image_url"} with a URL or a data URL, or {"file_id"}' },
  )
  .meta({ description: 'The first frame: a file of at most 8 MiB, `{"image_url"}`, or `{"file_id"}`.' });

export const openaiCreateBody = videoBodySchema.extend({ input_reference: reference.optional() }).meta({
  id: 'OpenaiVideoRequest',
  examples: [{ model: exampleModels.video, prompt: 'A paper boat on a rainy street', seconds: '5' }],
});

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

export async function withFilesAsData(
  asked: Understood,
  meta: RequestMeta,
  images: ImageRouteDeps,
): Promise<Understood> {
  const body = { ...asked.body };
  for (const place of ['image', 'images']) {
    const value = body[place];
    if (!hasFile(value)) continue;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    const read = await Promise.all(
      items.map((item, index) => asData(item, asked.nameOf(`${place}[${index}]`))),
    );
    body[place] = Array.isArray(value) ? read : read[0];
  }
  return { ...asked, body };

  async function asData(item: unknown, param: string): Promise<unknown> {
    if (item instanceof UploadedFile) return dataUrlOf(item, { param, meta, images });
    return isRecord(item) && item['url'] instanceof UploadedFile
      ? { ...item, url: await dataUrlOf(item['url'], { param, meta, images }) }
      : item;
  }
}

interface Place {
  readonly param: string;
  readonly meta: RequestMeta;
  readonly images: ImageRouteDeps;
}

async function dataUrlOf(file: UploadedFile, { param, meta, images }: Place): Promise<string> {
  if (file.bytes > referenceBytesMax)
    throw refuse('request_too_large', param, `must not exceed ${referenceBytesMax} bytes`);
  const image = await readImageFile(file, images.limits.pixelsMax);
  if ('refused' in image) throw refuse('invalid_parameter', param, image.refused);
  // Reserve memory for the bytes, their base64, and the sealed request that contains that base64.
  meta.reserve(4 * file.bytes);
  return `data:${image.mediaType};base64,${(await readFile(file.path)).toString('base64')}`;
}

function refuse(code: 'invalid_parameter' | 'request_too_large', param: string, reason: string) {
  return new GatewayError(code, `The parameter ${param} ${reason}.`, { param });
}
