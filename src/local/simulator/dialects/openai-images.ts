import { randomBytes } from 'node:crypto';
import type { Desk, Submission } from '../desk.ts';
import type { Call } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import type { MediaFormat, Medium } from '../media/medium.ts';
import { eventStream, json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { OpenAiError, openAiProblems } from './openai-error.ts';
import { openAiImageModels, outputTokens, readImageSize } from './openai-image-models.ts';
import type { OpenAiImageFamily } from './openai-image-models.ts';
import { checkFiles, readFields, readRaw } from './openai-image-request.ts';
import type { ImageFields, ImageKind, RawImageRequest } from './openai-image-request.ts';

const linkLifetimeSeconds = 3600;
const charactersPerToken = 4;
const tokensPerInputImage = 323;

/** Images in OpenAI's dialect; also spoken by gateways, each with its own words for a problem. */
export async function createImage(desk: Desk, { request }: Call, kind: ImageKind): Promise<Reply> {
  const raw = await readRaw(request, kind);
  return desk.create(request, raw, (submission) => generate(desk, { ...raw, kind }, submission));
}

async function generate(
  desk: Desk,
  raw: RawImageRequest & { readonly kind: ImageKind },
  submission: Submission,
): Promise<Reply> {
  const { world } = desk;
  const { kind } = raw;
  const { model, faults } = submission;
  const family = openAiImageModels.get(model);
  if (family === undefined) {
    throw new OpenAiError(404, {
      code: 'model_not_found',
      param: 'model',
      message: `The model '${model}' does not exist.`,
    });
  }
  if (kind === 'edits' && !family.edits) {
    throw new OpenAiError(400, {
      code: 'invalid_value',
      param: 'model',
      message: `Value must be 'dall-e-2' or a GPT image model.`,
    });
  }
  const fields = readFields(raw, family);
  const inputs = kind === 'edits' ? checkFiles(raw.files, family) : 0;
  const size = readImageSize(fields.size, family);
  // Moderation of the older models has a code of its own; what the output shows is judged after the work.
  await world.paint(faults);
  if (faults.has('item-moderation') || faults.has('moderation-in-task')) throw moderated(family);
  if (faults.has('item-error') || faults.has('failed')) throw openAiProblems.internal;
  desk.countCreate(submission);
  const images = Array.from({ length: fields.n }, (_, tint) =>
    world.image(size, { format: formatOf(fields, family), tint, marked: kind === 'edits' }, faults),
  );
  return family.family === 'gpt'
    ? replyWithBytes(world, { kind, fields, images, inputs }, faults)
    : replyWithLinks(world, { fields, images, family }, faults);
}

function moderated({ family }: OpenAiImageFamily): OpenAiError {
  if (family === 'gpt') return openAiProblems.moderated;
  return new OpenAiError(400, {
    code: 'content_policy_violation',
    message: openAiProblems.moderated.message,
  });
}

function formatOf(fields: ImageFields, { family }: OpenAiImageFamily): Exclude<MediaFormat, 'mp4'> {
  return family === 'gpt' ? (fields.output_format ?? 'png') : 'png';
}

/** GPT image models always answer in base64, with usage. */
function replyWithBytes(
  world: World,
  drawn: { kind: string; fields: ImageFields; images: readonly Medium[]; inputs: number },
  faults: FaultSet,
): Reply {
  const { kind, fields, images, inputs } = drawn;
  const [first] = images;
  const quality = fields.quality === undefined || fields.quality === 'auto' ? 'medium' : fields.quality;
  const background = fields.background === 'transparent' ? 'transparent' : 'opaque';
  const size = first === undefined ? '' : `${first.width}x${first.height}`;
  const perImage = images.map((image) => outputTokens(quality, image));
  const output = Math.floor(perImage.reduce((sum, tokens) => sum + tokens, 0) * faults.usageFactor());
  const textTokens = Math.ceil(fields.prompt.length / charactersPerToken);
  const imageTokens = inputs * tokensPerInputImage;
  const usage = {
    total_tokens: textTokens + imageTokens + output,
    input_tokens: textTokens + imageTokens,
    output_tokens: output,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
  };
  const about = { background, output_format: fields.output_format ?? 'png', quality, size };
  const created = Math.floor(world.now() / 1000);
  const data = images.map((image) => ({ b64_json: world.renderBase64(image) }));
  if (!fields.stream)
    return json(200, { created, ...about, data, ...(faults.has('missing-usage') ? {} : { usage }) });
  const prefix = kind === 'edits' ? 'image_edit' : 'image_generation';
  const event = (type: string, more: object) => ({
    name: type,
    data: { type, created_at: created, ...about, ...data[0], ...more },
  });
  const partials = Array.from({ length: fields.partial_images }, (_, index) =>
    event(`${prefix}.partial_image`, { partial_image_index: index }),
  );
  return eventStream([...partials, event(`${prefix}.completed`, { usage })], '');
}

/** dall-e: links or base64, without usage. */
function replyWithLinks(
  world: World,
  { fields, images, family }: { fields: ImageFields; images: readonly Medium[]; family: OpenAiImageFamily },
  faults: FaultSet,
): Reply {
  const now = world.now();
  const revised = family.family === 'dall-e-3' ? { revised_prompt: `${fields.prompt}, in great detail` } : {};
  const data = images.map((image) => {
    if (fields.response_format === 'b64_json') {
      return { b64_json: world.renderBase64(image), ...revised };
    }
    const owner = { id: `img-${randomBytes(12).toString('hex')}`, faults: faults.sources() };
    return { url: world.link(owner, image, now, linkLifetimeSeconds), ...revised };
  });
  return json(200, { created: Math.floor(now / 1000), data });
}
