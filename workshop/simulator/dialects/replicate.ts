import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { areaOf, check, dialect, json, linesOf, link, media as file } from '../engine.ts';
import { phaseWords, refusals, signStandardWebhook, sizeOf, taken } from '../engine.ts';
import type { Call, Desk, FaultSet, Job, Mistake, Rendered, Reply } from '../engine.ts';
import { fileRoutesOf, isKnownFile } from './replicate-files.ts';

/**
 * The vendor does not document how long it keeps records. In the simulator, they outlive every test, but their data
 * does not.
 */
const keptMs = 14 * 86_400_000;
const runMsMax = 30 * 60_000;
const dataSeconds = 3600;
const pageSize = 100;

export const replicateWebhookSecret = `whsec_${Buffer.from('simulated-replicate-webhooks').toString('base64')}`;

const refuse = refusals(({ status, code: title, message: detail, param: field }) => {
  if (title === '') return json(status, { detail });
  const invalid_fields = field === '' ? undefined : [{ field, description: detail }];
  return json(status, { title, detail, status, invalid_fields });
});
const invalid = (field: string, reason: string) =>
  refuse(422, 'Input validation failed', `- ${field}: ${reason}`, field);
const notFound = refuse(404, 'Not found', 'The requested resource could not be found.');
const throttled = refusals(({ status, message: detail }) =>
  json(status, { detail, status, retry_after: 30 }),
)(429, '', 'Request was throttled. Your rate limit resets in ~30s.');
const noVersion = refuse(422, 'Invalid version or not permitted', 'The specified version does not exist.');

const models = ['bytedance/seedance-2.0', 'alibaba/wan-3-prime', 'black-forest-labs/flux-2-pro'];

function replicateVersion(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

function modelOfVersion(version: string): string | undefined {
  const [name = '', hash] = version.includes('/') ? version.split(':') : ['', version];
  return models.find(
    (one) => (name === '' || one === name) && (hash === undefined || hash === replicateVersion(one)),
  );
}

const files = z.array(file).optional();
const inputSchema = z.strictObject({
  ...taken({ text: 'negative_prompt', media: 'image last_frame_image', int: 'safety_tolerance seed output_quality' }),
  ...taken({ flag: 'generate_audio enable_prompt_expansion' }),
  prompt: z.string().min(1),
  reference_images: files,
  reference_videos: files,
  reference_audios: files,
  input_images: files,
  duration: z.int().default(5),
  resolution: z.string().regex(/^(?:480p|720p|1080p|4k|\d MP)$/).default('720p'),
  aspect_ratio: z.string().regex(/^(?:\d+:\d+|adaptive|custom|match_input_image)$/).default('16:9'),
  width: z.int().optional(),
  height: z.int().optional(),
  output_format: z.enum(['webp', 'jpg', 'png']).default('webp'),
}); // prettier-ignore
const bodySchema = z.strictObject({
  ...taken({ flag: 'stream' }),
  input: z.looseObject({ prompt: z.string().optional() }),
  version: z.string().optional(),
  webhook: link.optional(),
  webhook_events_filter: z.array(z.enum(['start', 'output', 'logs', 'completed'])).optional(),
});

type Detail = Rendered & {
  readonly format: 'webp' | 'jpeg' | 'png';
  readonly input: object;
  readonly version: string;
  readonly events?: readonly string[] | undefined;
};
type Prediction = Job<Detail>;

function render(model: string, given: unknown) {
  const named = ({ path, reason }: Mistake) => invalid(path === '' ? 'input' : `input.${path}`, reason);
  const input = check(inputSchema, given, named);
  const { duration, resolution, aspect_ratio: ratio, output_format } = input;
  const format = output_format === 'jpg' ? ('jpeg' as const) : output_format;
  if (!model.includes('flux'))
    return { ...sizeOf(linesOf(resolution), ratio), seconds: duration > 0 ? duration : 5, format };
  const megapixels = resolution.endsWith('MP') ? Number.parseInt(resolution, 10) : 1;
  const { width, height } = areaOf(1024 * Math.sqrt(megapixels), ratio, 16);
  return { width: input.width ?? width, height: input.height ?? height, seconds: 0, images: 1, format };
}

const two = ':id/[^/]+';

export const replicate = dialect<Detail>({
  name: 'replicate',
  prefix: '/replicate/v1',
  keptMs,
  expiresAfterMs: runMsMax,
  mistake: ({ path, reason }) => invalid(path, reason),
  problems: {
    unauthorized: refuse(401, 'Unauthenticated', 'You did not pass a valid authentication token'),
    forbidden: refuse(403, 'Forbidden', 'You do not have permission to perform this action.'),
    'not-found': notFound,
    'rate-limited': throttled,
    'quota-exhausted': refuse(402, 'Insufficient credit', 'You have insufficient credit to run this model.'),
    internal: refuse(500, 'Internal server error', 'Something went wrong.'),
    unavailable: refuse(503, '', 'Service temporarily unavailable.'),
  },
  callbackBody(job) {
    const { detail, phase, isOver } = job;
    if (phase === 'queued' || phase === 'unknown') return undefined;
    return (detail.events?.includes(isOver ? 'completed' : 'start') ?? true) ? present(job) : undefined;
  },
  callbackHeaders: (body) => signStandardWebhook(replicateWebhookSecret, body),
  routes: (desk) => ({
    [`POST /models/${two}/predictions`]: (call) => submit(desk, call, nameIn(call)),
    [`POST /deployments/${two}/predictions`]: (call) => submit(desk, call, deployedIn(call)),
    'POST /predictions': (call) => submit(desk, call, undefined),
    'GET /predictions': (call) => list(desk, call),
    'GET /predictions/:id': desk.shows(present),
    'POST /predictions/:id/cancel': (call) =>
      desk.about('delete', call, (job) => json(200, present(job.isOver ? job : desk.cancel(job)))),
    ...fileRoutes(desk),
    'GET /webhooks/default/secret': () => json(200, { key: replicateWebhookSecret }),
  }),
});

function fileRoutes(desk: Desk<Detail>) {
  const refusals = { notFound, noContent: invalid('content', 'content is required') };
  return fileRoutesOf(desk, refusals);
}

function requireFiles({ world }: Desk<Detail>, request: Call['request'], input: object): void {
  for (const [field, value] of Object.entries(input))
    for (const url of [value].flat())
      if (typeof url === 'string' && !isKnownFile(world, request, url))
        throw invalid(`input.${field}`, 'There is no such file.');
}

function nameIn({ request }: Call): string {
  return decodeURIComponent(request.path.split('/').slice(2, 4).join('/'));
}

function deployedIn(call: Call): string {
  const [name = '', ...faults] = (nameIn(call).split('/')[1] ?? '').split('+');
  const model = models.find((one) => one.endsWith(`/${name}`));
  if (model === undefined) throw notFound;
  return [model, ...faults].join('+');
}

function submit(desk: Desk<Detail>, { request }: Call, named: string | undefined): Promise<Reply> {
  const body = desk.read(bodySchema, request);
  const [version = '', ...faults] = (body.version ?? '').split('+');
  if (named === undefined && version === '') throw invalid('version', 'version is required');
  const ofVersion = modelOfVersion(version);
  if (named === undefined && ofVersion === undefined) throw noVersion;
  const asked = { model: named ?? [ofVersion, ...faults].join('+'), prompt: body.input.prompt ?? '' };
  return desk.create(request, asked, async (submission) => {
    const { input, webhook: callbackUrl, webhook_events_filter: events } = body;
    if (!models.includes(submission.model)) throw notFound;
    const about = { input, version: named === undefined ? version : 'hidden', events };
    requireFiles(desk, request, input);
    const detail = { ...render(submission.model, input), ...about };
    return json(201, present(await desk.accept(submission, { id: identifier(), callbackUrl, detail })));
  });
}

function list(desk: Desk<Detail>, call: Call): Promise<Reply> {
  const { query } = call.request;
  const [after, before] = [dateIn(query, 'created_after', 0), dateIn(query, 'created_before', Infinity)];
  const cursor = query.get('cursor');
  return desk.list(call, [], () => {
    const made = query.get('source') === 'web' ? [] : desk.newestFirst();
    const matching = made.filter(({ task }) => task.createdAt >= after && task.createdAt <= before);
    const begin = cursor === null ? 0 : matching.findIndex(({ id }) => id === cursor) + 1;
    const page = matching.slice(begin, begin + pageSize);
    const rest = new URLSearchParams(query);
    rest.set('cursor', page.at(-1)?.id ?? '');
    const more = `${desk.world.parts.origin}/replicate/v1/predictions?${rest.toString()}`;
    const next = begin + pageSize < matching.length ? more : null;
    return json(200, { next, previous: null, results: page.map(present) });
  });
}

function dateIn(query: URLSearchParams, name: string, ifAbsent: number): number {
  const text = query.get(name);
  const time = text === null ? ifAbsent : Date.parse(text);
  if (Number.isNaN(time)) throw refuse(400, 'Bad request', `${name} is not a date.`);
  return time;
}

function identifier(): string {
  return Array.from(randomBytes(26), (byte) => 'abcdefghijklmnopqrstuvwxyz0123456789'[byte % 36]).join('');
}

const wordFor = phaseWords('starting processing succeeded failed failed canceled uploading');
const flagged =
  'The input or output was flagged as sensitive. Please try again with different inputs. (E005)';
const interrupted = 'Prediction interrupted; please retry (code: PA)';
const otherFailures: Readonly<Record<string, string>> = {
  E006: 'Invalid input: could not download the file. (E006)',
  memory: 'CUDA out of memory',
  E9243: 'Director: unexpected error handling prediction (E9243)',
};

function present(job: Prediction): object {
  const { id, task, detail, world, now, phase, since, isOver, startsAt } = job;
  const data_removed = isOver && now >= since + dataSeconds * 1000;
  const hasStarted = phase !== 'queued' && (!isOver || startsAt < since);
  const get = `${world.parts.origin}/replicate/v1/predictions/${id}`;
  const date = (time: number) => new Date(time).toISOString();
  return {
    id,
    model: job.model,
    version: detail.version,
    input: data_removed ? {} : detail.input,
    output: phase === 'succeeded' && !data_removed ? outputOf(job) : null,
    logs: '',
    error: phase === 'expired' ? interrupted : phase === 'failed' ? errorOf(job.faults) : null,
    source: 'api',
    // A cancelled prediction that never started is `aborted`, whoever cancelled it.
    status: phase === 'cancelled' && since <= startsAt ? 'aborted' : wordFor(phase),
    created_at: date(task.createdAt),
    started_at: hasStarted ? date(startsAt) : undefined,
    completed_at: isOver ? date(since) : undefined,
    data_removed,
    webhook: task.callbackUrl,
    webhook_events_filter: detail.events,
    urls: { get, cancel: `${get}/cancel`, web: `https://web.example/p/${id}` },
    metrics: isOver && hasStarted ? job.reported(metricsOf(job)) : undefined,
  };
}

function errorOf(faults: FaultSet): string {
  if (faults.has('moderation-in-task')) return flagged;
  return otherFailures[faults.text('failed') ?? ''] ?? interrupted;
}

function metricsOf(job: Prediction): object {
  const { task, detail, since } = job;
  const predict_time = job.billed((since - job.startsAt) / 1000);
  const times = { predict_time, total_time: (since - task.createdAt) / 1000 };
  if (job.phase !== 'succeeded' || job.faults.has('docs-shape')) return times;
  return detail.images === undefined
    ? { ...times, video_output_duration_seconds: job.billed(detail.seconds) }
    : { ...times, image_count: job.billed(detail.images) };
}

/** Returns a single file. Other models return a list (with `docs-shape`) or an object (with `docs-shape=object`). */
function outputOf(job: Prediction): unknown {
  const { detail, faults } = job;
  const [file] = job.links({ lifetimeSeconds: dataSeconds, look: { format: detail.format } });
  if (file === undefined) return null;
  if (!faults.has('docs-shape')) return file;
  const name = detail.images === undefined ? 'video' : 'image';
  return faults.text('docs-shape') === 'object' ? { [name]: file, seed: 7 } : [file];
}
