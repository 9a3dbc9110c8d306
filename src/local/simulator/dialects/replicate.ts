import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { Job } from '../job.ts';
import { areaOf, linesOf, sizeOf } from '../sizes.ts';
import { signStandardWebhook } from '../standard-webhooks.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { check, json, parseJson, refusals } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { isAnnounced, presentPrediction, replicateDetail } from './replicate-prediction.ts';
import type { ReplicateDetail } from './replicate-prediction.ts';

type ReplicateDesk = JobDesk<ReplicateDetail>;

/** Not documented: records outlive everything that is tried here, their data do not. */
const recordKeptMs = 14 * 86_400_000;
const runMsMax = 30 * 60_000;
const pageSize = 100;

/** What `GET /webhooks/default/secret` hands out: `callback_secret` of a channel on the simulator. */
export const replicateWebhookSecret = `whsec_${Buffer.from('simulated-replicate-webhooks').toString('base64')}`;

/** Problem JSON, or a detail alone where there is no title; `param` is the field. */
const refuse = refusals(({ status, code: title, message: detail, param: field }) => {
  if (title === '') return json(status, { detail });
  const invalid_fields = field === '' ? undefined : [{ field, description: detail }];
  return json(status, { title, detail, status, invalid_fields });
});
const invalid = (field: string, reason: string) =>
  refuse(422, 'Input validation failed', `- ${field}: ${reason}`, field);

/** No `moderated`: the content is inspected when the prediction runs. */
const problems = {
  unauthorized: refuse(401, 'Unauthenticated', 'You did not pass a valid authentication token'),
  forbidden: refuse(403, 'Forbidden', 'You do not have permission to perform this action.'),
  'not-found': refuse(404, 'Not found', 'The requested resource could not be found.'),
  'rate-limited': refuse(429, '', 'Request was throttled. Your rate limit resets in ~30s.'),
  'quota-exhausted': refuse(402, 'Insufficient credit', 'You have insufficient credit to run this model.'),
  internal: refuse(500, 'Internal server error', 'Something went wrong.'),
  unavailable: refuse(503, '', 'Service temporarily unavailable.'),
} satisfies Problems;
const unknownVersion = refuse(
  422,
  'Invalid version or not permitted',
  'The specified version does not exist.',
);

/** Official models: that of a version or a deployment is looked for here. */
const models = ['bytedance/seedance-2.0', 'alibaba/wan-3-prime', 'black-forest-labs/flux-2-pro'];

/** The hash by which a copy of the model that is not official is named here. */
export function replicateVersion(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/** `owner/name`, `owner/name:<hash>` or `<hash>` → owner/name. */
function modelOfVersion(version: string): string | undefined {
  const [name = '', hash] = version.includes('/') ? version.split(':') : ['', version];
  return models.find(
    (one) => (name === '' || one === name) && (hash === undefined || hash === replicateVersion(one)),
  );
}

const file = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:[\w.+/-]+;base64,[A-Za-z0-9+/]+=*)$/, 'must be a valid URI');
const side = z.int().min(256).max(2048).optional();
/** The inputs of all models. */
const inputSchema = z.strictObject({
  prompt: z.string().min(1),
  negative_prompt: z.string().optional(),
  image: file.optional(),
  last_frame_image: file.optional(),
  reference_images: z.array(file).optional(),
  reference_videos: z.array(file).optional(),
  reference_audios: z.array(file).optional(),
  input_images: z.array(file).optional(),
  duration: z.int().min(-1).max(30).default(5),
  resolution: z.enum(['480p', '720p', '1080p', '4k', '1 MP', '2 MP', '3 MP', '4 MP']).default('720p'),
  aspect_ratio: z.string().regex(/^(?:\d+:\d+|adaptive|custom|match_input_image)$/).default('16:9'),
  width: side,
  height: side,
  generate_audio: z.boolean().optional(),
  enable_prompt_expansion: z.boolean().optional(),
  safety_tolerance: z.int().min(1).max(5).optional(),
  seed: z.int().optional(),
  output_format: z.enum(['webp', 'jpg', 'png']).default('webp'),
  output_quality: z.int().min(0).max(100).optional(),
}); // prettier-ignore

function render(model: string, given: unknown) {
  const input = check(inputSchema, given, ({ path, reason }) =>
    invalid(path === '' ? 'input' : `input.${path}`, reason),
  );
  const { duration, resolution, aspect_ratio: ratio, width, height, output_format } = input;
  const format = output_format === 'jpg' ? ('jpeg' as const) : output_format;
  if (!model.includes('flux')) {
    const seconds = duration > 0 ? duration : 5;
    return { ...sizeOf(linesOf(resolution), ratio), seconds, images: 0, format };
  }
  const megapixels = resolution.endsWith('MP') ? Number.parseInt(resolution, 10) : 1;
  const size = areaOf(1024 * Math.sqrt(megapixels), ratio, 16);
  return { width: width ?? size.width, height: height ?? size.height, seconds: 0, images: 1, format };
}

const bodySchema = z.strictObject({
  input: z.looseObject({ prompt: z.string().optional() }),
  version: z.string().optional(),
  webhook: z.url().optional(),
  webhook_events_filter: z.array(z.enum(['start', 'output', 'logs', 'completed'])).optional(),
  stream: z.boolean().optional(),
});

/** Replicate: predictions of official models, of versions and of deployments. */
export function createReplicateDialect(world: World): Dialect {
  const desk: ReplicateDesk = new JobDesk(world, {
    name: 'replicate',
    problems,
    detail: replicateDetail,
    recordKeptMs,
    callbackBody(task) {
      const job = new Job(task, world);
      return isAnnounced(job) ? presentPrediction(job) : undefined;
    },
    callbackHeaders: (body) => signStandardWebhook(replicateWebhookSecret, body),
  });
  const found = (task: Task<ReplicateDetail>) => json(200, presentPrediction(new Job(task, world)));
  // Owner and name are two parts of a path.
  const two = ':id/[^/]+';
  return createDialect(desk, {
    prefix: '/replicate/v1',
    noSuchRoute: () => problems['not-found'],
    routes: {
      [`POST /models/${two}/predictions`]: (call) => submit(desk, call, nameIn(call)),
      [`POST /deployments/${two}/predictions`]: (call) => submit(desk, call, deployedIn(call)),
      'POST /predictions': (call) => submit(desk, call, undefined),
      'GET /predictions': (call) => list(desk, call),
      'GET /predictions/:id': (call) => desk.about('poll', call, { found }),
      'POST /predictions/:id/cancel': (call) =>
        desk.about('delete', call, {
          found(task) {
            if (!isFinal(momentOf(task, world.now()).phase)) desk.cancel(task);
            return found(task);
          },
        }),
      'GET /webhooks/default/secret': () => json(200, { key: replicateWebhookSecret }),
    },
  });
}

/** `/models/{owner}/{name}…` → owner/name */
function nameIn({ request }: Call): string {
  return decodeURIComponent(request.path.split('/').slice(2, 4).join('/'));
}

/** A deployment is called as the model that it runs, whoever owns it. */
function deployedIn(call: Call): string {
  const [name = '', ...faults] = (nameIn(call).split('/')[1] ?? '').split('+');
  const model = models.find((one) => one.endsWith(`/${name}`));
  if (model === undefined) throw problems['not-found'];
  return [model, ...faults].join('+');
}

/** `named` is the model of the path; absent: the version names it. */
async function submit(desk: ReplicateDesk, { request }: Call, named: string | undefined): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), ({ path, reason }) => invalid(path, reason));
  const [version = '', ...faults] = (body.version ?? '').split('+');
  if (named === undefined && version === '') throw invalid('version', 'version is required');
  const ofVersion = modelOfVersion(version);
  if (named === undefined && ofVersion === undefined) throw unknownVersion;
  const asked = { model: named ?? [ofVersion, ...faults].join('+'), prompt: body.input.prompt ?? '' };
  return desk.create(request, asked, async (submission) => {
    if (!models.includes(submission.model)) throw problems['not-found'];
    const task = await desk.accept(submission, {
      id: identifier(),
      expiresAfterMs: runMsMax,
      callbackUrl: body.webhook,
      detail: {
        ...render(submission.model, body.input),
        input: body.input,
        version: named === undefined ? version : 'hidden',
        events: body.webhook_events_filter,
      },
    });
    return json(201, presentPrediction(new Job(task, desk.world)));
  });
}

function list(desk: ReplicateDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const [after, before] = [dateIn(query, 'created_after', 0), dateIn(query, 'created_before', Infinity)];
  const cursor = query.get('cursor');
  return desk.list(call, [], () => {
    const isMade = query.get('source') !== 'web';
    const matching = desk
      .newestFirst()
      .filter(({ createdAt }) => isMade && createdAt >= after && createdAt <= before);
    const begin = cursor === null ? 0 : matching.findIndex(({ id }) => id === cursor) + 1;
    const page = matching.slice(begin, begin + pageSize);
    const rest = new URLSearchParams(query);
    rest.set('cursor', page.at(-1)?.id ?? '');
    const next = `${desk.world.parts.origin}/replicate/v1/predictions?${rest.toString()}`;
    return json(200, {
      next: begin + pageSize < matching.length ? next : null,
      previous: null,
      results: page.map((task) => presentPrediction(new Job(task, desk.world))),
    });
  });
}

function dateIn(query: URLSearchParams, name: string, ifAbsent: number): number {
  const text = query.get(name);
  const time = text === null ? ifAbsent : Date.parse(text);
  if (Number.isNaN(time)) throw refuse(400, 'Bad request', `${name} is not a date.`);
  return time;
}

/** 26 characters, as the vendor's are. */
function identifier(): string {
  return Array.from(randomBytes(26), (byte) => 'abcdefghijklmnopqrstuvwxyz0123456789'[byte % 36]).join('');
}
