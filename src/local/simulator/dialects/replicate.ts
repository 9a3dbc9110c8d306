import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { pause } from '../disturb.ts';
import { JobDesk } from '../job-desk.ts';
import { signStandardWebhook } from '../standard-webhooks.ts';
import { isFinal, momentOf } from '../task.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import { invalidBody, ReplicateError, replicateProblems, unknownVersion } from './replicate-error.ts';
import { findReplicateModel, modelOfDeployment, modelOfVersion } from './replicate-models.ts';
import { isAnnounced, presentPrediction, replicateDetail } from './replicate-prediction.ts';
import type { Prediction, ReplicateDetail } from './replicate-prediction.ts';

type ReplicateDesk = JobDesk<ReplicateDetail>;

/** Not documented: records outlive everything that is tried here, their data do not. */
const recordKeptMs = 14 * 86_400_000;
const runMsMax = 30 * 60_000;
const pageSize = 100;
const waitSecondsMax = 60;

/** What `GET /webhooks/default/secret` hands out: `callback_secret` of a channel on the simulator. */
export const replicateWebhookSecret = `whsec_${Buffer.from('simulated-replicate-webhooks').toString('base64')}`;

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
    problems: replicateProblems,
    detail: replicateDetail,
    recordKeptMs,
    callbackBody: (task) =>
      isAnnounced(task, momentOf(task, world.now())) ? presentPrediction(task, world) : undefined,
    callbackHeaders: (body) => signStandardWebhook(replicateWebhookSecret, body),
  });
  const found = (task: Prediction) => json(200, presentPrediction(task, world));
  // Owner and name are two parts of a path.
  const two = ':id/[^/]+';
  return createDialect(desk, {
    prefix: '/replicate/v1',
    noSuchRoute: () => replicateProblems['not-found'],
    routes: {
      [`POST /models/${two}/predictions`]: (call) => submit(desk, call, nameIn(call)),
      [`POST /deployments/${two}/predictions`]: (call) => {
        const [, name = ''] = nameIn(call).split('/');
        const [plain = '', ...faults] = name.split('+');
        const model = modelOfDeployment(plain);
        if (model === undefined) throw replicateProblems['not-found'];
        return submit(desk, call, [model, ...faults].join('+'));
      },
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
      [`GET /models/${two}`]: (call) => describe(nameIn(call)),
      'GET /webhooks/default/secret': () => json(200, { key: replicateWebhookSecret }),
    },
  });
}

/** `/models/{owner}/{name}…` → owner/name */
function nameIn({ request }: Call): string {
  return decodeURIComponent(request.path.split('/').slice(2, 4).join('/'));
}

function describe(name: string): Reply {
  const model = findReplicateModel(name);
  if (model === undefined) throw replicateProblems['not-found'];
  const [owner, short] = name.split('/');
  const schemas = { Input: z.toJSONSchema(model.input, { io: 'input' }) };
  return json(200, {
    owner,
    name: short,
    is_official: true,
    latest_version: { id: 'hidden', openapi_schema: { components: { schemas } } },
  });
}

/** `named` is the model of the path; absent: the version names it. */
async function submit(desk: ReplicateDesk, { request }: Call, named: string | undefined): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), invalidBody);
  const { version = '', webhook, webhook_events_filter: events } = body;
  const [plain = '', ...faults] = version.split('+');
  if (named === undefined && plain === '')
    throw invalidBody({ field: 'version', path: 'version', reason: 'version is required', isAbsent: true });
  const ofVersion = modelOfVersion(plain);
  if (named === undefined && ofVersion === undefined) throw unknownVersion;
  const asked = { model: named ?? [ofVersion, ...faults].join('+'), prompt: body.input.prompt ?? '' };
  return desk.create(request, asked, async (submission) => {
    const model = findReplicateModel(submission.model);
    if (model === undefined) throw replicateProblems['not-found'];
    const ownDeadline = cancelAfter(request);
    const task = await desk.accept(submission, {
      id: identifier(),
      expiresAfterMs: ownDeadline ?? runMsMax,
      callbackUrl: webhook,
      detail: {
        ...model.render(body.input),
        input: body.input,
        version: named === undefined ? plain : 'hidden',
        ownDeadline: ownDeadline !== undefined,
        events,
      },
    });
    return answerCreate(desk, request, task);
  });
}

/** `Prefer: wait` answers with the end, where it comes in time. */
async function answerCreate(desk: ReplicateDesk, { headers }: WireRequest, task: Prediction): Promise<Reply> {
  const { world } = desk;
  const prefer = headers['prefer'];
  const match = /^wait(?:=(\d+))?$/.exec(typeof prefer === 'string' ? prefer : '');
  if (match === null) return json(201, presentPrediction(task, world));
  const seconds = Math.min(waitSecondsMax, Number(match[1] ?? waitSecondsMax));
  await pause(Math.min(seconds, (task.queueMs + task.renderMs) / 1000));
  const isOver = isFinal(momentOf(task, world.now()).phase);
  return json(isOver ? 201 : 202, presentPrediction(task, world));
}

/** Milliseconds of `Cancel-After`: `90s`, `5m`, `1h`. */
function cancelAfter({ headers }: WireRequest): number | undefined {
  const header = headers['cancel-after'];
  if (header === undefined) return undefined;
  const match = /^(\d+)([smh])$/.exec(String(header));
  if (match === null) throw new ReplicateError([400, 'Bad request'], 'Cancel-After is not a duration.');
  const unit = { s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? ''] ?? 1000;
  return Number(match[1]) * unit;
}

function list(desk: ReplicateDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const [after, before] = [dateIn(query, 'created_after'), dateIn(query, 'created_before')];
  const cursor = query.get('cursor');
  return desk.list(call, [], () => {
    const isMade = query.get('source') !== 'web';
    const matching = desk
      .newestFirst()
      .filter(({ createdAt }) => isMade && createdAt >= (after ?? 0) && createdAt <= (before ?? Infinity));
    const begin = cursor === null ? 0 : matching.findIndex(({ id }) => id === cursor) + 1;
    const page = matching.slice(begin, begin + pageSize);
    const rest = new URLSearchParams(query);
    rest.set('cursor', page.at(-1)?.id ?? '');
    const next = `${desk.world.parts.origin}/replicate/v1/predictions?${rest.toString()}`;
    return json(200, {
      next: begin + pageSize < matching.length ? next : null,
      previous: null,
      results: page.map((task) => presentPrediction(task, desk.world)),
    });
  });
}

function dateIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new ReplicateError([400, 'Bad request'], `${name} is not a date.`);
  return time;
}

/** 26 characters, as the vendor's are. */
function identifier(): string {
  return Array.from(randomBytes(26), (byte) => 'abcdefghijklmnopqrstuvwxyz0123456789'[byte % 36]).join('');
}
