import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { isFinal, momentOf } from '../task.ts';
import { bytes, check, json, parseJson } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import { FalError, falProblems, invalidInput, notFound } from './fal-error.ts';
import { listBilling, listRequests } from './fal-history.ts';
import { falModel } from './fal-models.ts';
import { settingsOf, settle } from './fal-request.ts';
import { falDetail, isForgotten, outputOf, recordKeptMs, stateOf, unitsOf } from './fal-task.ts';
import type { FalDesk, FalTask } from './fal-task.ts';
import { keySet, signWebhook, webhookBody } from './fal-webhook.ts';

/**
 * fal under one base URL, `/fal`, which stands for the queue host; `/fal/v1` is the platform host with
 * its `/v1`, `/fal/.well-known/jwks.json` the keys of the callbacks. Not covered: the stream of a status, the list of
 * prices, the host that answers at once.
 */
export function createFalDialect(world: World): Dialect {
  const desk: FalDesk = new JobDesk(world, {
    name: 'fal',
    problems: falProblems,
    detail: falDetail,
    recordKeptMs,
    callbackBody: (task) => webhookBody(task, world),
    callbackHeaders: signWebhook,
  });
  const app = '/[^/]+/[^/]+/requests';
  return createDialect(desk, {
    prefix: '/fal',
    keyOf: (request) => keyOf(request, world),
    noSuchRoute: () => new FalError(404, 'Path not found'),
    routes: {
      'GET /.well-known/jwks.json': () => json(200, keySet),
      'GET /v1/models/requests/by-endpoint': (call) => listRequests(desk, call),
      'GET /v1/models/billing-events': (call) => listBilling(desk, call),
      [`GET ${app}/:id/status`]: (call: Call) =>
        about(desk, 'poll', call, (task) => presentStatus(task, desk, call.request)),
      [`GET ${app}/:id`]: (call: Call) => about(desk, 'poll', call, (task) => presentResult(task, world)),
      [`PUT ${app}/:id/cancel`]: (call: Call) => cancel(desk, call),
      'POST /([^?]+)': (call) => submit(desk, call),
    },
  });
}

/** The word `Key`, not `Bearer`; the public keys are for all. */
function keyOf({ headers, path }: WireRequest, world: World): string | undefined {
  if (path === '/.well-known/jwks.json') return world.parts.apiKeys?.[0] ?? 'anybody';
  return /^Key\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Status, result and cancel know the first two parts of a model's id only. */
function appOf(model: string): string {
  return model.split('/').slice(0, 2).join('/');
}

function about(
  desk: FalDesk,
  stage: 'poll' | 'delete',
  call: Call,
  found: (task: FalTask) => Reply,
): Promise<Reply> {
  const { request } = call;
  const known = desk.find(call.id);
  const isNamed = known !== undefined && request.path.startsWith(`/${appOf(known.model)}/requests/`);
  const missing = stage === 'delete' ? () => json(404, { status: 'NOT_FOUND' }) : () => notFound.reply();
  return desk.about(stage, { request, task: isNamed ? known : undefined }, { found, missing });
}

const textsSchema = z.object({
  prompt: z.string().catch(''),
  end_user_id: z.string().optional().catch(undefined),
});
const hookSchema = z.url();

function submit(desk: FalDesk, { request, id: path }: Call): Promise<Reply> {
  const input = check(z.record(z.string(), z.unknown()), parseJson(request.body), invalidInput);
  const { prompt, end_user_id: endUser = '' } = textsSchema.parse(input);
  const hook = request.query.get('fal_webhook');
  if (hook !== null && !hookSchema.safeParse(hook).success)
    throw new FalError(400, 'fal_webhook is not a URL', 'bad_request');
  return desk.create(request, { model: path, prompt, endUser }, async (submission) => {
    const model = falModel(submission.model);
    if (model === undefined)
      throw new FalError(404, `Application ${JSON.stringify(submission.model)} not found`);
    const settings = settingsOf(request);
    const detail = { ...settle(model, input, submission.faults), ...settings, input };
    const task = await desk.accept(submission, {
      id: randomUUID(),
      expiresAfterMs: recordKeptMs,
      detail,
      callbackUrl: hook ?? undefined,
    });
    const gateway = hook === null ? {} : { gateway_request_id: task.id };
    return json(200, { status: 'IN_QUEUE', queue_position: 0, ...names(task, desk.world), ...gateway });
  });
}

function names({ id, model }: FalTask, world: World): object {
  const url = `${world.parts.origin}/fal/${appOf(model)}/requests/${id}`;
  return { request_id: id, response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
}

function presentStatus(task: FalTask, desk: FalDesk, { query }: WireRequest): Reply {
  const { world } = desk;
  const state = stateOf(task, world.now());
  const base = { status: state.word, ...names(task, world) };
  if (state.isEnded) {
    const { error } = state;
    const isPlatform = error !== undefined && error.loc === undefined;
    return json(200, {
      ...base,
      metrics: { inference_time: task.renderMs / 1000 },
      ...(isPlatform ? { error: error.message, error_type: error.type } : {}),
    });
  }
  if (state.word === 'IN_QUEUE') return json(202, { ...base, queue_position: positionOf(task, desk) });
  const timestamp = new Date(state.since).toISOString();
  const logs = [{ message: 'rendering', level: 'INFO', source: 'USER', timestamp }];
  return json(202, { ...base, ...(query.get('logs') === '1' ? { logs } : {}) });
}

/** How many of the same model wait before it. */
function positionOf(task: FalTask, desk: FalDesk): number {
  const now = desk.world.now();
  const all = desk.newestFirst();
  const older = all.slice(all.indexOf(task) + 1);
  return older.filter((other) => other.model === task.model && momentOf(other, now).phase === 'queued')
    .length;
}

function presentResult(task: FalTask, world: World): Reply {
  const state = stateOf(task, world.now());
  const { error } = state;
  const id = { 'x-fal-request-id': task.id };
  if (!state.isEnded) return json(400, { detail: 'Request is still in progress' }, id);
  const faults = FaultSet.of(task.faults);
  // What is asked for after a cancel is not verified: 499, or with docs-shape nothing.
  const isUnheard = error?.status === 499 && faults.has('docs-shape');
  if (isUnheard || isForgotten(task, world, state)) return notFound.reply();
  if (error !== undefined) {
    const reply = error.reply();
    if (reply.kind !== 'send') return reply;
    const own = error.type === 'request_timeout' ? { 'x-fal-request-timeout-type': 'user' } : {};
    return bytes(reply.status, reply.body, { ...reply.headers, ...id, ...own });
  }
  const units = faults.has('missing-usage') ? {} : { 'x-fal-billable-units': unitsOf(task) };
  return json(200, outputOf(task, world, state.since), { ...id, ...units });
}

/** What runs is asked to stop and finishes all the same; with `docs-shape` it stops. */
function cancel(desk: FalDesk, call: Call): Promise<Reply> {
  return about(desk, 'delete', call, (task) => {
    const now = desk.world.now();
    if (isFinal(momentOf(task, now).phase) || stateOf(task, now).isEnded)
      return json(400, { status: 'ALREADY_COMPLETED' });
    const isQueued = stateOf(task, now).word === 'IN_QUEUE';
    if (isQueued || FaultSet.of(task.faults).has('docs-shape')) desk.cancel(task);
    return isQueued ? json(200, { status: 'OK' }) : json(202, { status: 'CANCELLATION_REQUESTED' });
  });
}
