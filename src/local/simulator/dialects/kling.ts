import { randomInt } from 'node:crypto';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { Asked, Submission } from '../desk.ts';
import { JobDesk } from '../job-desk.ts';
import { signStandardWebhook } from '../standard-webhooks.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { badParameter, KlingError, klingProblems, noFreeSlot } from './kling-error.ts';
import { klingCallbackSecret, klingKey } from './kling-key.ts';
import { legacyImageServices, legacyVideoServices, readLegacyBody } from './kling-legacy-request.ts';
import { klingDetail } from './kling-models.ts';
import type { KlingDetail } from './kling-models.ts';
import { readKlingBody, settleKling } from './kling-request.ts';
import { presentCreated, presentKling } from './kling-task.ts';
import type { KlingTask } from './kling-task.ts';
import { byName, envelope, listKling, listLegacyKling, queryKling, recordKeptMs } from './kling-query.ts';
import type { KlingDesk } from './kling-query.ts';

const expiresAfterMs = 2 * recordKeptMs;
/** Jobs of one model that run at a time; above it a submit is refused. An image takes a slot for each picture. */
const slots = 100;

/** Kling: the new standard, and the legacy one below `/v1`. */
export function createKlingDialect(world: World): Dialect {
  const desk: KlingDesk = new JobDesk(world, {
    name: 'kling',
    problems: klingProblems,
    detail: klingDetail,
    recordKeptMs,
    // The bare task, not the envelope.
    callbackBody: (task) => presentKling(task, world),
    callbackHeaders: (body) => signStandardWebhook(klingCallbackSecret, body),
  });
  const legacy = [
    ...legacyVideoServices.map((service) => ['video', service] as const),
    ...legacyImageServices.map((service) => ['image', service] as const),
  ];
  return createDialect(desk, {
    prefix: '/kling',
    keyOf: (request) => klingKey(request, world),
    noSuchRoute: ({ method, path }) => new KlingError([404, 1202], `No such interface: ${method} ${path}.`),
    routes: {
      ...Object.fromEntries(
        ['text-to-video', 'image-to-video', 'omni-video', 'motion-control'].map((path) => [
          `POST /${path}/:id`,
          (call: Call) => submit(desk, call, path),
        ]),
      ),
      ...Object.fromEntries(legacy.flatMap(([kind, service]) => legacyRoutes(desk, kind, service))),
      'GET /tasks': (call) => queryKling(desk, call),
      'POST /tasks': (call) => listKling(desk, call),
    },
  });
}

function submit(desk: KlingDesk, { request, id }: Call, path: string): Promise<Reply> {
  const body = readKlingBody(path, request.body);
  const asked = { model: id, prompt: body.prompt };
  return create(desk, request, {
    asked,
    callbackUrl: body.options.callback_url,
    settle: ({ model, faults }) => settleKling(body, { path, model }, faults),
  });
}

interface Order {
  readonly asked: Asked;
  readonly callbackUrl: string | undefined;
  readonly settle: (submission: Submission) => KlingDetail;
}

function create(desk: KlingDesk, request: Call['request'], order: Order): Promise<Reply> {
  return desk.create(request, order.asked, async (submission) => {
    const detail = order.settle(submission);
    const all = desk.newestFirst();
    // What a second create of one name answers is not verified: a refusal, or with docs-shape another job.
    const mustBeNew = detail.externalId !== undefined && !submission.faults.has('docs-shape');
    if (mustBeNew && all.some((task) => task.detail.externalId === detail.externalId))
      throw badParameter('external_task_id already exists');
    const taken = slotsTaken(all, submission.model, desk.world.now());
    if (taken + Math.max(1, detail.images) > (desk.world.parts.jobsAtOnceMax ?? slots)) throw noFreeSlot;
    const id = desk.newId(() => `${desk.world.now()}${randomInt(100_000, 999_999)}`);
    const task = await desk.accept(submission, {
      id,
      expiresAfterMs,
      detail,
      callbackUrl: order.callbackUrl,
    });
    return envelope(presentCreated(task));
  });
}

function slotsTaken(tasks: readonly KlingTask[], model: string, now: number): number {
  return tasks
    .filter((task) => task.model === model && !isFinal(momentOf(task, now).phase))
    .reduce((sum, { detail }) => sum + Math.max(1, detail.images), 0);
}

/** Queries stand at the path of the submit. */
function legacyRoutes(desk: KlingDesk, kind: 'video' | 'image', service: string) {
  const path = `/v1/${kind}s/${service}`;
  const { world } = desk;
  const own = (task: KlingTask | undefined) => (task?.detail.path === path ? task : undefined);
  return [
    [
      `POST ${path}`,
      ({ request }: Call) => {
        const { model, prompt, callbackUrl, settle } = readLegacyBody(kind, service, request.body);
        return create(desk, request, {
          asked: { model, prompt },
          callbackUrl,
          settle: (submission) => settle(submission.model, submission.faults),
        });
      },
    ],
    [`GET ${path}`, (call: Call) => listLegacyKling(desk, call, path)],
    [
      `GET ${path}/:id`,
      (call: Call) => {
        // The id of the caller is known for images only.
        const named = kind === 'image' ? byName(desk, new Set([call.id]))[0] : undefined;
        const task = own(desk.find(call.id)) ?? own(named);
        return desk.about(
          'poll',
          { request: call.request, task },
          { found: (known) => envelope(presentKling(known, world)) },
        );
      },
    ],
  ] as const;
}
