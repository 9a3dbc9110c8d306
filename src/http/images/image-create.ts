import type { Caller } from '../../domain/caller.ts';
import { defined } from '../../domain/defined.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { ImageRequest } from '../../domain/request.ts';
import { isTerminal } from '../../domain/task.ts';
import type { ImageAnswer } from '../../images/answer-once.ts';
import type { CreatedImages } from '../../images/create-images.ts';
import { noRetry } from '../../images/explain-failure.ts';
import type { Task } from '../../domain/task-record.ts';
import type { CreatedTask } from '../../tasks/create-task.ts';
import type { ImageRouteDeps, RouteDeps } from '../deps.ts';
import { presentError } from '../error-response.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import { commonImageFields } from './image-body.ts';
import type { ImageBody } from './image-body.ts';
import { parseImage } from './image-request.ts';
import { presentCreatedTask } from '../presenters/created-task.ts';
import { presentImages, presentWarnings } from '../presenters/image.ts';
import { presentTask } from '../presenters/video-task.ts';
import { toSeconds } from '../presenters/unix-seconds.ts';
import type { PresentedTask } from '../presenters/video-task.ts';
import { jsonReply, partsReply } from '../route.ts';
import type { Reply, RequestMeta } from '../route.ts';

export type ImageCreateDeps = Pick<
  RouteDeps,
  | 'catalogue'
  | 'createTask'
  | 'admissions'
  | 'tasks'
  | 'watcher'
  | 'metrics'
  | 'checkCallbackUrl'
  | 'checkMediaUrl'
  | 'mediaUrl'
  | 'log'
  | 'now'
> & { readonly images: ImageRouteDeps };

export interface ImageCreate {
  readonly operation: ImageRequest['operation'];
  /** operationId: the scope of the idempotency key beside the account. */
  readonly route: string;
  readonly body: ImageBody;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

/** The codes of both creates. */
export const imageCreateErrors = [
  'unsupported_parameter',
  'model_not_found',
  'media_url_not_allowed',
  'callback_url_not_allowed',
  'account_closed',
  'insufficient_balance',
  'model_not_allowed',
  'channel_not_allowed',
  'idempotency_key_reused',
  'concurrency_limit_exceeded',
  'storage_quota_exceeded',
  'provider_error',
] as const satisfies readonly ErrorCode[];

/** One request for images: synchronous, or a task, as the first channel of its plan renders. */
export async function createImages(create: ImageCreate, deps: ImageCreateDeps): Promise<Reply> {
  try {
    const created = await carryOut(create, deps);
    const replayed = created.kind === 'task' ? created.task.replayed : created.answer.replayed;
    const reply = await replyTo(created, create, deps);
    deps.metrics.countCreate(replayed ? 'replayed' : 'created');
    return reply;
  } catch (error) {
    deps.metrics.countCreate(error instanceof GatewayError ? error.code : 'internal_error');
    const failure = error instanceof GatewayError ? error.failure : undefined;
    if (failure !== undefined) deps.metrics.countImageFailure(failure.class);
    throw error;
  }
}

async function carryOut(create: ImageCreate, deps: ImageCreateDeps): Promise<CreatedImages> {
  const idempotencyKey = idempotencyKeyOf(create.meta);
  const { body, caller, operation, route, meta } = create;
  const model = deps.catalogue.model(body.model, caller);
  const parsed = await parseImage(body, { ...deps, ...deps.images.limits, operation, model });
  const createdSeconds = toSeconds(deps.now());
  return deps.images.create({
    ...parsed,
    caller,
    route,
    ...defined({ idempotencyKey, clientRetries: clientRetriesOf(meta) }),
    closed: () => meta.closed(),
    reserve: (bytes) => meta.reserve(bytes),
    requireRoom: (bytes) => meta.requireRoom(bytes),
    createTask: (command) =>
      deps.admissions.run(caller.account, () => deps.createTask({ ...command, requestId: meta.id })),
    present: {
      images: (delivery) => presentImages(delivery, { createdSeconds, warnings: warningsOf(create, deps) }),
      error: (error) => JSON.stringify(presentError(error)),
    },
  });
}

/** A misspelt field costs money in silence otherwise. What a mapping of the model passes on is known, too. */
function warningsOf(
  { meta, body }: ImageCreate,
  { catalogue, images: { vendorFields } }: Pick<ImageCreateDeps, 'catalogue' | 'images'>,
): readonly string[] {
  const unknown = meta.unknownFields({
    has: (name) => commonImageFields.has(name) || vendorFields.has(name),
  });
  if (unknown.length === 0) return unknown;
  const { channels } = catalogue.current();
  const passed = channels.flatMap(({ models }) => models[body.model]?.mapping?.pass ?? []);
  return unknown.filter((name) => !passed.includes(name));
}

/** The header with which official clients count their own repeats. */
const retryCountHeader = 'x-stainless-retry-count';

function clientRetriesOf(meta: RequestMeta): number | undefined {
  const retries = meta.header(retryCountHeader);
  return retries !== undefined && /^\d{1,3}$/.test(retries) ? Number(retries) : undefined;
}

const replayedHeader = { 'idempotency-replayed': 'true' } as const;

async function replyTo(created: CreatedImages, create: ImageCreate, deps: ImageCreateDeps): Promise<Reply> {
  if (created.kind === 'answer') return replyAtOnce(created.answer);
  const { meta } = create;
  const { task } = created;
  meta.concerns(task.id);
  const headers = task.replayed ? replayedHeader : undefined;
  const waitMs = waitOf(meta);
  const finished = waitMs === 0 ? undefined : await waitForEnd(task, { waitMs, signal: meta.closed() }, deps);
  const warnings = warningsOf(create, deps);
  const wantsData = create.body.response_format === 'b64_json';
  if (finished === undefined) {
    // Who asks for the task later finds links.
    const ignored = wantsData ? [...warnings, 'response_format'] : warnings;
    return jsonReply(presentCreatedTask(task, 'image', ignored), headers);
  }
  const answer = synchronousAnswer(finished, headers, deps);
  const all = [...warnings, ...task.warnings];
  const images = wantsData ? await dataOf(finished, meta, deps) : undefined;
  if (images === undefined) return jsonReply({ ...answer, ...presentWarnings(all) }, headers);
  const facts = { createdSeconds: answer.created, warnings: all };
  return partsReply(presentImages({ images, extra: {} }, facts), headers);
}

/** Undefined: a result cannot be opened now. It is paid, and its links are the answer. */
async function dataOf({ id, outcome }: Task, meta: RequestMeta, { images, log }: ImageCreateDeps) {
  if (outcome?.kind !== 'succeeded') return undefined;
  try {
    return await images.asData(id, outcome.items, (bytes) => meta.reserve(bytes));
  } catch (err) {
    log.warn({ task: id, err }, 'results could not be given as data');
    return undefined;
  }
}

function replyAtOnce({ status, parts, headers, replayed, onEnd }: ImageAnswer): Reply {
  const all = replayed ? { ...replayedHeader, ...headers } : headers;
  return { ...partsReply(parts, all), status, ...defined({ onEnd }) };
}

const waitSecondsMax = 120;

/** `prefer: wait=N`; a preference that cannot be read is none. */
function waitOf(meta: RequestMeta): number {
  const seconds = Number(
    /(?:^|[\s,;])wait=(\d{1,6})(?:$|[\s,;])/i.exec(meta.header('prefer') ?? '')?.[1] ?? 0,
  );
  return Math.min(seconds, waitSecondsMax) * 1000;
}

/** Undefined: it has not ended in time. */
async function waitForEnd(
  { id }: CreatedTask,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  { tasks, watcher, now }: ImageCreateDeps,
): Promise<Task | undefined> {
  const until = now() + waitMs;
  let task = await tasks.find(id);
  while (task !== undefined && !isTerminal(task.status)) {
    const timeoutMs = until - now();
    if (timeoutMs <= 0) return undefined;
    const { status, account } = task;
    task = await watcher.waitForChange({ task: id, account, status, timeoutMs, signal });
  }
  return task;
}

function synchronousAnswer(
  task: Task,
  headers: Record<string, string> | undefined,
  { mediaUrl }: ImageCreateDeps,
): { readonly created: number; readonly data: PresentedTask['data'] } {
  if (task.status === 'failed' || task.outcome?.kind !== 'succeeded') {
    const words = defined({ words: task.error?.message });
    throw new GatewayError('provider_error', 'The upstream generated no image.', {
      ...words,
      headers: { ...headers, ...noRetry },
    });
  }
  const { created_at: created, data } = presentTask(task, mediaUrl);
  return { created, data };
}
