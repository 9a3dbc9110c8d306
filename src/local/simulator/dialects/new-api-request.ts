import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson, readForm, textsOf } from '../wire.ts';
import type { WireRequest } from '../wire.ts';
import { ArkError } from './ark-error.ts';
import { findArkModel, pixelSize, tokensOf } from './ark-models.ts';
import { readOrder } from './ark-request.ts';
import { settle } from './ark-task.ts';
import { NewApiError } from './new-api-error.ts';

/** What a task of the gateway renders. */
export const newApiDetail = z.object({
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  /** Of the models whose upstream reports tokens. */
  tokens: z.number().optional(),
  remixedFrom: z.string().optional(),
});
export type NewApiDetail = z.infer<typeof newApiDetail>;

const secondsDefault = 5;
const metadataSchema = z.record(z.string(), z.unknown());
const wholeSeconds = z
  .union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
  .pipe(z.int().min(-1).max(60));
const bodySchema = z.object({
  model: z.string().min(1),
  prompt: z.string().min(1),
  image: z.string().optional(),
  images: z.array(z.string()).optional(),
  input_reference: z.string().optional(),
  size: z
    .string()
    .regex(/^\d{2,5}x\d{2,5}$/)
    .optional(),
  duration: wholeSeconds.optional(),
  seconds: z.string().regex(/^\d+$/).transform(Number).optional(),
  metadata: metadataSchema.optional(),
});
export type NewApiBody = z.infer<typeof bodySchema>;

/** Models other than Ark's that the gateway has a channel for. */
const otherModels = /^(sora-2|kling-|wan|vidu|veo-|hailuo|minimax)/i;

/** JSON or multipart, whose `metadata` is JSON in a text field. @throws {NewApiError} */
export async function readBody(request: WireRequest): Promise<Record<string, unknown>> {
  const form = await readForm(request);
  if (form !== undefined) {
    const { metadata, ...rest } = textsOf(form);
    return metadata === undefined ? rest : { ...rest, metadata: parseJson(Buffer.from(metadata)) };
  }
  return check(
    metadataSchema,
    parseJson(request.body),
    () => new NewApiError(400, 'invalid_request', 'invalid request body'),
  );
}

/** @throws {NewApiError} 400 `invalid_request`. */
export function checkBody(body: Record<string, unknown>): NewApiBody {
  return check(bodySchema, body, ({ field, reason, isAbsent }) => {
    return new NewApiError(400, 'invalid_request', `${field} ${isAbsent ? 'is required' : reason}`);
  });
}

/** @throws {NewApiError} when no channel has the model, or the upstream behind it refuses. */
export function settleVideo(body: NewApiBody, model: string, faults: FaultSet): NewApiDetail {
  const ark = findArkModel(model);
  if (ark !== undefined) return settleArk(body, { ...ark, asked: model }, faults);
  if (!otherModels.test(model)) {
    throw new NewApiError(
      503,
      'model_not_found',
      `No available channel for model ${model} under group default`,
      'middleware',
    );
  }
  const [width = 1280, height = 720] = (body.size ?? '1280x720').split('x').map(Number);
  return { width, height, seconds: body.duration ?? body.seconds ?? secondsDefault };
}

/** The body as it is passed on: metadata is merged over it, text always comes from `prompt`. */
function settleArk(
  body: NewApiBody,
  { asked, name, model }: { asked: string } & NonNullable<ReturnType<typeof findArkModel>>,
  faults: FaultSet,
): NewApiDetail {
  const { model: _dropped, content, ...metadata } = body.metadata ?? {};
  const images = body.images ?? [body.image ?? body.input_reference ?? []].flat();
  const role = images.length > 1 ? { role: 'reference_image' } : {};
  const items: readonly unknown[] = images.map((url) => ({ type: 'image_url', image_url: { url }, ...role }));
  const media = Array.isArray(content) ? content.filter((item) => !isText(item)) : items;
  const passed = {
    ...(body.duration === undefined && body.seconds === undefined
      ? {}
      : { duration: body.duration ?? body.seconds }),
    ...metadata,
    model: asked,
    content: [{ type: 'text', text: body.prompt }, ...media],
  };
  try {
    const detail = settle(readOrder(passed, model), model, name, faults);
    const [width, height] = pixelSize(model, detail.resolution, detail.ratio);
    const { duration: seconds, frames, inputVideoSeconds } = detail;
    return {
      width,
      height,
      seconds,
      tokens: tokensOf({ width, height, seconds, frames, inputVideoSeconds }),
    };
  } catch (error) {
    if (!(error instanceof ArkError)) throw error;
    const { code, message, param } = error;
    throw new NewApiError(
      error.status,
      'fail_to_fetch_task',
      JSON.stringify({ error: { code, message, param, type: 'BadRequest' } }),
    );
  }
}

function isText(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'type' in item && item.type === 'text';
}
