import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { areaOf, dialect, inSeconds, json, linesOf, link, media, pairIn, phaseWords } from '../engine.ts';
import { refusals, sizeOf, taken, word } from '../engine.ts';
import type { Call, Desk, FaultSet, Job, Refusal, Rendered, Reply } from '../engine.ts';
import { confirmedCallback, noMiniMaxRoute } from './minimax.ts';

const fileLinkSeconds = 3600;

const baseOf = ({ code, message }: Pick<Refusal, 'code' | 'message'>) => ({
  status_code: code,
  status_msg: message,
});
const accepted = baseOf({ code: 0, message: 'success' });
const refuse = refusals((refusal) => json(200, { base_resp: baseOf(refusal) }));
const invalid = (message: string) => refuse(200, 2013, `invalid params, ${message}`);
const internal = refuse(200, 1000, 'unknown error');
const outputModerated = refuse(200, 1027, 'output new_sensitive');

const subjects = (image: object) =>
  z.array(z.strictObject({ type: z.literal('character'), ...image })).length(1).optional(); // prettier-ignore
const bodySchema = z.strictObject({
  ...taken({
    flag: 'prompt_optimizer fast_pretreatment aigc_watermark',
    media: 'first_frame_image last_frame_image',
  }),
  model: z.string(),
  prompt: z.string().default(''),
  duration: z.int().default(6),
  resolution: word('512P 720P 768P 1080P').default('768P'),
  subject_reference: subjects({ image: z.array(media).length(1) }),
  callback_url: link.optional(),
});

type Detail = Rendered & { readonly fileId: string };
type HailuoJob = Job<Detail>;

export const miniMaxV1 = dialect<Detail>({
  name: 'minimax-v1',
  prefix: '/minimax/v1',
  expiresAfterMs: 7 * 86_400_000,
  mistake: ({ path, reason }) => invalid(`${path}: ${reason}`),
  noSuchRoute: noMiniMaxRoute,
  problems: {
    unauthorized: refuse(200, 1004, 'login fail: Please carry the API secret key'),
    forbidden: refuse(200, 2061, 'your current token plan not support model, MiniMax-Hailuo-02'),
    'not-found': invalid('invalid task_id'),
    'rate-limited': refuse(200, 1002, 'rate limit'),
    'quota-exhausted': refuse(200, 1008, 'insufficient balance'),
    moderated: refuse(200, 1026, 'input new_sensitive'),
    internal,
    unavailable: refuse(200, 1041, 'conn limit'),
  },
  callbackBody: presentCallback,
  routes: (desk) => ({
    'POST /video_generation': desk.creates(
      bodySchema,
      async ({ resolution, duration: seconds, callback_url }, { model, faults }) => {
        if (!/^(?:MiniMax-Hailuo-|[TIS]2V-01)/.test(model)) throw invalid(`unknown model: ${model}`);
        const size = sizeOf(linesOf(resolution), faults.text('ratio') ?? '16:9');
        const callbackUrl = await confirmedCallback(callback_url, desk.world);
        return { id: idDigits(), detail: { ...size, seconds, fileId: idDigits() }, callbackUrl };
      },
      ({ id }) => json(200, { task_id: id, base_resp: accepted }),
    ),
    'GET /query/video_generation': ({ request }) =>
      desk.shows(present)({ request, id: request.query.get('task_id') ?? '' }),
    'GET /files/retrieve': (call) => retrieve(desk, call),
    'POST /image_generation': (call) => paint(desk, call),
    'POST /images/generations': (call) => paintH3(desk, call, 'generations'),
    'POST /images/edits': (call) => paintH3(desk, call, 'edits'),
  }),
});

const idDigits = (): string => `${randomInt(100_000_000, 899_999_999)}${randomInt(100_000, 999_999)}`;

const wordFor = phaseWords('Queueing Processing Success Fail Fail Fail Reviewing');

function stateOf({ phase, faults }: HailuoJob) {
  if (wordFor(phase) !== 'Fail') return accepted;
  return baseOf(faults.has('moderation-in-task') ? outputModerated : internal);
}

function present(job: HailuoJob): object {
  const { id: task_id, detail, phase, faults } = job;
  // With `docs-shape`, every waiting task is still being prepared, which precedes queueing.
  const isPreparing = phase === 'queued' && faults.has('docs-shape');
  const file = { file_id: detail.fileId, video_width: detail.width, video_height: detail.height };
  const status = isPreparing ? 'Preparing' : wordFor(phase);
  return { task_id, status, ...(phase === 'succeeded' ? file : {}), base_resp: stateOf(job) };
}

const callbackWord = phaseWords('Processing Processing Success Failed Failed Failed Processing');

function presentCallback(job: HailuoJob): object {
  const { id: task_id, detail, phase, faults } = job;
  const said = callbackWord(phase);
  const status = faults.has('docs-shape') ? said : said.toLowerCase();
  const file_id = phase === 'succeeded' ? detail.fileId : undefined;
  return { task_id, status, file_id, base_resp: stateOf(job) };
}

function retrieve(desk: Desk<Detail>, { request }: Call): Promise<Reply> {
  const wanted = request.query.get('file_id') ?? '';
  const made = desk.newestFirst().filter(({ phase }) => phase === 'succeeded');
  return desk.about(
    'poll',
    { request, job: made.find(({ detail }) => detail.fileId === wanted) },
    (job) => {
      const [download_url] = job.links({ lifetimeSeconds: fileLinkSeconds, from: job.now });
      // The value is a number here, but a string in the query.
      const about = {
        file_id: Number(job.detail.fileId),
        bytes: 0,
        created_at: inSeconds(job.task.createdAt),
      };
      const file = { ...about, filename: 'output_aigc.mp4', purpose: 'video_generation', download_url };
      return json(200, { file, base_resp: accepted });
    },
    () => invalid('invalid file_id').reply(desk.world.now()),
  );
}

const side = z.int().min(1).optional();
const imageSchema = z.strictObject({
  ...taken({ int: 'seed', flag: 'prompt_optimizer' }),
  model: z.string(),
  prompt: z.string().min(1),
  aspect_ratio: z.string().optional(),
  width: side,
  height: side,
  n: z.int().min(1).default(1),
  response_format: z.enum(['url', 'base64']).default('url'),
  aigc_watermark: z.boolean().default(false),
  subject_reference: subjects({ image_file: media }),
});

function paint(desk: Desk<Detail>, { request }: Call): Promise<Reply> {
  const body = desk.read(imageSchema, request);
  const { aspect_ratio: ratio, width = 1024, height = 1024, n } = body;
  return desk.create(request, body, async (submission) => {
    const { faults, model } = submission;
    if (!/^image-0\d/.test(model)) throw invalid(`unknown model: ${model}`);
    const lost = lostImages(faults, n);
    const size = ratio === undefined ? { width, height } : areaOf(1024, ratio, 8);
    const id = randomUUID().replaceAll('-', '');
    const order = { id, detail: { ...size, seconds: 0, images: n, fileId: '' } };
    const job = await desk.paint(submission, order);
    const look = { format: 'jpeg', marked: body.aigc_watermark } as const;
    const files = job.pictures(body.response_format === 'base64' ? 'b64_json' : 'url', { look });
    const kept = files.filter((_, index) => !lost.includes(index)).flatMap((file) => Object.values(file));
    const data = { [body.response_format === 'base64' ? 'image_base64' : 'image_urls']: kept };
    const count = (value: number) => (faults.has('docs-shape') ? value : String(value));
    const metadata = { success_count: count(n - lost.length), failed_count: count(lost.length) };
    const made = { id, data: faults.has('missing-url') ? {} : data, metadata: job.reported(metadata) };
    return json(200, { ...made, base_resp: accepted });
  });
}

/**
 * Returns the indexes of the failed images.
 * @throws {WireError} The reason for the first failure, if no image remains.
 */
function lostImages(faults: FaultSet, n: number): readonly number[] {
  const struck = ['item-error', 'item-moderation'].filter((name) => faults.has(name));
  const lost = struck.map((name) => faults.number(name) ?? 0).filter((index) => index < n);
  const isRefused = faults.has('moderation-in-task') || (lost.length >= n && faults.has('item-moderation'));
  if (isRefused) throw outputModerated;
  if (faults.has('failed') || lost.length >= n) throw internal;
  return lost;
}

const h3Schema = z.strictObject({
  ...taken({ flag: 'disable_prompt_enhanced' }),
  model: z.string(),
  prompt: z.string().min(1).max(32_000),
  n: z.int().min(1).max(10).default(1),
  size: z
    .string()
    .regex(/^(?:auto|\d+x\d+)$/, 'not a size')
    .default('auto'),
  aspect_ratio: z
    .string()
    .regex(/^(?:auto|\d{1,3}:\d{1,3})$/, 'not a ratio')
    .optional(),
  area: word('1K 2K 4K').optional(),
  output_format: word('png jpeg jpg webp').default('jpg'),
  output_compression: z.int().min(0).max(100).optional(),
  response_format: z.enum(['url', 'b64_json']).default('url'),
  images: z
    .array(z.strictObject({ image_url: media }))
    .min(1)
    .max(16)
    .optional(),
});
type H3Body = z.infer<typeof h3Schema>;

const h3Tokens = { text: 12, image: 1024, ofSquare: 4096 };

function paintH3(desk: Desk<Detail>, { request }: Call, kind: 'generations' | 'edits'): Promise<Reply> {
  const body = desk.read(h3Schema, request);
  const { images = [], n } = body;
  if ((kind === 'edits') !== images.length > 0) throw invalid(`images do not fit ${kind}`);
  const size = h3Size(body);
  return desk.create(request, body, async (submission) => {
    const { faults, model } = submission;
    if (!/^MiniMax-H3-Image(?:-Highspeed)?$/.test(model)) throw invalid(`unknown model: ${model}`);
    const lost = lostImages(faults, n);
    const order = { id: randomUUID(), detail: { ...size, seconds: 0, images: n, fileId: '' } };
    const job = await desk.paint(submission, order);
    const format = body.output_format === 'png' ? ('png' as const) : ('jpeg' as const);
    const files = job.pictures(body.response_format, { look: { format, marked: kind === 'edits' } });
    const failed = { error: { code: '1000', message: 'unknown error' } };
    const data = files.map((file, index) => (lost.includes(index) ? failed : file));
    const made = { created: inSeconds(job.now), data: faults.has('missing-url') ? [] : data };
    const output_tokens = Math.floor(job.billed(n * h3Tokens.ofSquare));
    const input = { text_tokens: h3Tokens.text, image_tokens: images.length * h3Tokens.image };
    const input_tokens = input.text_tokens + input.image_tokens;
    const total_tokens = input_tokens + output_tokens;
    const usage = job.reported({ input_tokens, input_tokens_details: input, output_tokens, total_tokens });
    return json(200, { ...made, usage });
  });
}

function h3Size({ size, area, aspect_ratio: ratio }: H3Body): Pick<Rendered, 'width' | 'height'> {
  const pixels = pairIn(size);
  if (pixels === undefined)
    return areaOf(
      Number.parseInt(area ?? '4K', 10) * 1024,
      ratio === undefined || ratio === 'auto' ? '1:1' : ratio,
      8,
    );
  if (area !== undefined || ratio !== undefined) throw invalid('size excludes aspect_ratio and area');
  const count = pixels.width * pixels.height;
  const long = Math.max(pixels.width, pixels.height) / Math.min(pixels.width, pixels.height);
  if (count < 655_360 || count > 20_000_000 || long > 3) throw invalid('size is out of range');
  return pixels;
}
