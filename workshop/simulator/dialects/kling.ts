import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { bearerToken, dialect, json, parseJson, phaseWords, refusals } from '../engine.ts';
import { signStandardWebhook } from '../engine.ts';
import type { Call, Desk, Job, Mistake, Reply, WireRequest } from '../engine.ts';
import type { World } from '../world.ts';
import { legacyImages, legacyVideos, readKling, type KlingDetail, type KlingOrder } from './kling-request.ts';

type KlingDesk = Desk<KlingDetail>;
type KlingJob = Job<KlingDetail>;

const keptMs = 30 * 86_400_000;
const slots = 100;
const linkSeconds = 30 * 86_400;
const legacyServices = {
  videos: ['text2video', 'image2video', 'multi-image2video', 'omni-video'],
  images: ['generations', 'omni-image'],
} as const;

/** For channels on the simulator, set `callback_secret` to this. */
export const klingCallbackSecret = `whsec_${Buffer.from('simulated-kling-callbacks').toString('base64')}`;

const klingError = refusals(({ status, code, message }, now) =>
  json(status, { code, message, request_id: randomUUID() }, { date: new Date(now).toUTCString() }),
);
const badParameter = (message: string) => klingError(400, 1201, message);
const mistake = ({ path, reason }: Mistake) => badParameter(`${path}: ${reason}`);
const notFound = klingError(404, 1203, 'The requested resource does not exist.');
const internal = klingError(500, 5000, 'Internal server error.');

export const kling = dialect<KlingDetail>({
  name: 'kling',
  prefix: '/kling',
  keptMs,
  expiresAfterMs: 2 * keptMs,
  keyOf,
  mistake,
  noSuchRoute: ({ method, path }) => klingError(404, 1202, `No such interface: ${method} ${path}.`),
  problems: {
    unauthorized: klingError(401, 1002, 'Authorization is invalid.'),
    forbidden: klingError(403, 1103, 'No permission for this interface or model.'),
    'not-found': notFound,
    'rate-limited': klingError(429, 1302, 'The request is too fast, exceeding the rate limit.'),
    'quota-exhausted': klingError(429, 1102, 'The resource pack is used up or has expired.'),
    moderated: klingError(400, 1301, 'The request triggered the content security policy.'),
    internal,
    unavailable: klingError(503, 5001, 'The server is under maintenance.'),
  },
  callbackBody: present,
  callbackHeaders: (body) => signStandardWebhook(klingCallbackSecret, body),
  routes: (desk) => ({
    ...Object.fromEntries(
      ['text-to-video', 'image-to-video', 'omni-video', 'motion-control'].map((path) => [
        `POST /${path}/:id`,
        ({ request, id }: Call) => create(desk, request, readKling(desk, path, { request, id })),
      ]),
    ),
    ...Object.fromEntries(legacyServices.videos.flatMap((service) => legacyRoutes(desk, 'videos', service))),
    ...Object.fromEntries(legacyServices.images.flatMap((service) => legacyRoutes(desk, 'images', service))),
    'GET /tasks': (call) => query(desk, call),
    'GET /account/costs': ({ request }) => packs(request.query),
  }),
});

const claimsSchema = z.object({ iss: z.string(), exp: z.number(), nbf: z.number() });

/**
 * On the legacy paths, the token may be a JSON web token that is signed with a key pair. In the simulator, the key for
 * such a pair is `<access key>:<secret key>`.
 * @throws {WireError} 1001 without a key, 1003 for a token that is not yet valid, and 1004 for an expired token.
 */
function keyOf(request: WireRequest, world: World): string | undefined {
  const token = bearerToken(request);
  if (token === undefined) throw klingError(401, 1001, 'Authorization is empty.');
  // Callers only sign with a key pair. They never send it.
  if (token.includes(':')) return undefined;
  const [head = '', body = '', signature] = token.split('.');
  if (signature === undefined) return token;
  if (!/^\/(?:v1|account)\//.test(request.path)) return undefined;
  const claims = claimsSchema.safeParse(parseJson(Buffer.from(body, 'base64url'))).data;
  if (claims === undefined) return undefined;
  const now = world.now() / 1000;
  if (claims.nbf > now) throw klingError(401, 1003, 'Authorization is not yet valid.');
  if (claims.exp <= now) throw klingError(401, 1004, 'Authorization has expired.');
  const { apiKeys } = world.parts;
  if (apiKeys === undefined) return token;
  return apiKeys.find((key) => {
    const [access, secret] = key.split(':');
    if (secret === undefined || access !== claims.iss) return false;
    return createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url') === signature;
  });
}

function packs(query: URLSearchParams): Reply {
  for (const name of ['start_time', 'end_time'])
    if (!/^\d{13}$/.test(query.get(name) ?? '')) throw badParameter(`${name} is required, in milliseconds.`);
  const pack = { resource_pack_type: 'decreasing_total', total_quantity: 200 };
  return envelope({
    code: 0,
    msg: '',
    resource_pack_subscribe_infos: [
      { ...pack, status: 'online', remaining_quantity: 100 },
      { ...pack, status: 'expired', remaining_quantity: 50 },
    ],
  });
}

function envelope(data: unknown): Reply {
  return json(200, { code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}

function create(desk: KlingDesk, request: WireRequest, order: KlingOrder): Promise<Reply> {
  return desk.create(request, order, async ({ model, ...rest }) => {
    if (!order.models.test(model)) throw notFound;
    const detail = order.settle(rest.faults);
    // We have not verified the response to a second create request with the same name. The simulator rejects it or,
    // with `docs-shape`, creates another job.
    const mustBeNew = detail.externalId !== undefined && !rest.faults.has('docs-shape');
    if (mustBeNew && byName(desk, new Set([detail.externalId ?? ''])).length > 0)
      throw badParameter('external_task_id already exists');
    if (desk.isFull(slots, model)) throw klingError(429, 1303, 'parallel task over resource pack limit');
    const id = desk.newId(() => `${desk.world.now()}${randomInt(100_000, 999_999)}`);
    const { callbackUrl } = order;
    return envelope(created(await desk.accept({ model, ...rest }, { id, detail, callbackUrl })));
  });
}

function byName(desk: KlingDesk, names: ReadonlySet<string>): KlingJob[] {
  return desk.newestFirst().filter(({ detail }) => names.has(detail.externalId ?? ''));
}

function query(desk: KlingDesk, call: Call): Promise<Reply> {
  const { request } = call;
  const [ids, names] = [request.query.get('task_ids'), request.query.get('external_task_ids')];
  if ((ids === null) === (names === null))
    throw klingError(400, 1200, 'Exactly one of task_ids and external_task_ids is required.');
  const wanted = new Set((ids ?? names ?? '').split(','));
  const known = ids === null ? byName(desk, wanted) : [...wanted].flatMap((id) => desk.find(id) ?? []);
  const own = known.filter(({ detail }) => !detail.legacy);
  const found = () => envelope(own.map(present));
  if (wanted.size > 1 || ids === null) return desk.list(call, own, found);
  return desk.about('poll', { request, job: own[0] }, found, found);
}

function legacyRoutes(desk: KlingDesk, kind: 'videos' | 'images', service: string) {
  const path = `/v1/${kind}/${service}`;
  const read = kind === 'videos' ? legacyVideos : legacyImages;
  const own = (job: KlingJob | undefined) => (job?.detail.path === path ? job : undefined);
  return [
    [`POST ${path}`, ({ request }: Call) => create(desk, request, read(desk, path, request))],
    [`GET ${path}`, (call: Call) => listLegacy(desk, call, path)],
    [
      `GET ${path}/:id`,
      ({ request, id }: Call) => {
        // Only images can be queried by an id that the caller chose.
        const named = kind === 'images' ? byName(desk, new Set([id]))[0] : undefined;
        const job = own(desk.find(id)) ?? own(named);
        return desk.about('poll', { request, job }, (found) => envelope(present(found)));
      },
    ],
  ] as const;
}

function listLegacy(desk: KlingDesk, call: Call, path: string): Promise<Reply> {
  const { query: parameters } = call.request;
  const [page, size] = [Number(parameters.get('pageNum') ?? 1), Number(parameters.get('pageSize') ?? 30)];
  if (!(page >= 1 && page <= 1000 && size >= 1 && size <= 500))
    throw badParameter('pageNum must be from 1 to 1000, pageSize from 1 to 500.');
  const jobs = desk.newestFirst().filter(({ detail }) => detail.path === path);
  return desk.list(call, [], () => envelope(jobs.slice((page - 1) * size, page * size).map(present)));
}

const wordFor = phaseWords('submitted processing succeeded failed failed failed post_processing');

/** The legacy format uses the word "succeed" instead of "succeeded". */
function wordOf({ phase, detail }: KlingJob): string {
  return detail.legacy && phase === 'succeeded' ? 'succeed' : wordFor(phase);
}

function created({ id, task: { createdAt }, detail }: KlingJob): object {
  const { legacy, externalId: external_id } = detail;
  if (!legacy)
    return { id, status: 'submitted', create_time: createdAt, update_time: createdAt, external_id };
  const task_info = { external_task_id: external_id };
  return { task_id: id, task_status: 'submitted', task_info, created_at: createdAt, updated_at: createdAt };
}

/** Returns the job without the envelope, for queries and callbacks. The reason for a failure is only in the message. */
function present(job: KlingJob): object {
  const { detail, phase, since, faults } = job;
  const isModerated = faults.has('moderation-in-task');
  const failure = isModerated ? 'Failure to pass the risk control system' : internal.message;
  const message = phase === 'failed' ? failure : '';
  const urls = phase === 'succeeded' ? job.links({ lifetimeSeconds: linkSeconds }) : [];
  // The real file is slightly longer than requested.
  const duration = job.reported((job.billed(detail.seconds) + 0.1).toFixed(1));
  const videos = urls.map((url) => ({ id: randomUUID(), url, watermark_url: '', duration }));
  const units = job.billed(detail.charge) / 100;
  if (!detail.legacy) {
    const shown = { ...created(job), status: wordOf(job), message, update_time: since };
    const outputs = videos.map((video) => ({ type: 'video', ...video }));
    if (phase === 'failed') return { ...shown, outputs };
    if (phase !== 'succeeded') return shown;
    const billing = [{ charge_type: 'unit', package_type: 'video', amount: units.toFixed(2) }];
    return { ...shown, outputs, billing: job.reported(billing) };
  }
  const shown = { ...created(job), task_status: wordOf(job), task_status_msg: message, updated_at: since };
  if (phase !== 'succeeded') return shown;
  const images = urls.map((url, index) => ({ index, url, watermark_url: '' }));
  return {
    ...shown,
    task_result: detail.images === undefined ? { videos } : { images },
    final_unit_deduction: job.reported(String(units)),
    final_balance_deduction: job.reported({ quota: '0', list_price: '0' }),
  };
}
