import { defined } from '../../domain/defined.ts';
import type { Caller } from '../../domain/caller.ts';
import type { CreateTaskCommand, CreatedTask } from '../../tasks/create-task.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { ImageRequest } from '../../domain/request.ts';
import { isTerminal } from '../../domain/task.ts';
import { createImageConverter, filesToData } from '../../images/convert.ts';
import { noRetry } from '../../images/explain-failure.ts';
import type { ImageService, PinnedPlan } from '../../images/image-service.ts';
import type { TaskDocument } from '../../store/tasks.ts';
import type { RouteDeps } from '../deps.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { ImageAnswers, Repeat } from './image-answers.ts';
import type { ImageBody } from './image-body.ts';
import { fingerprintImage } from './image-fingerprint.ts';
import { parseImage } from './image-request.ts';
import type { ParsedImage } from './image-request.ts';
import { presentCreatedTask } from '../presenters/created-task.ts';
import { presentImages } from '../presenters/image.ts';
import { presentTask, toSeconds } from '../presenters/video-task.ts';
import { jsonReply } from '../route.ts';
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
  | 'now'
> & { readonly images: ImageService; readonly answers: ImageAnswers };

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
  'insufficient_balance',
  'model_not_allowed',
  'channel_not_allowed',
  'idempotency_key_reused',
  'concurrency_limit_exceeded',
  'provider_error',
] as const satisfies readonly ErrorCode[];

/** One request for images: synchronous, or a task, as the first channel of its plan renders. */
export async function createImages(create: ImageCreate, deps: ImageCreateDeps): Promise<Reply> {
  try {
    const idempotencyKey = idempotencyKeyOf(create.meta);
    const { body, caller, operation } = create;
    const model = deps.catalogue.model(body.model, caller);
    const parsed = await parseImage(body, { ...deps, ...deps.images.limits, operation, model });
    const plan = deps.catalogue.plan(parsed.request, caller);
    const pinned = deps.images.pin(plan, parsed.request, idempotencyKey !== undefined);
    const creation = { ...create, parsed, pinned, idempotencyKey };
    const reply = await (pinned.mode === 'task' ? createTask(creation, deps) : generate(creation, deps));
    deps.metrics.countCreate('idempotency-replayed' in reply.headers ? 'replayed' : 'created');
    return reply;
  } catch (error) {
    deps.metrics.countCreate(error instanceof GatewayError ? error.code : 'internal_error');
    const failure = error instanceof GatewayError ? error.failure : undefined;
    if (failure !== undefined) deps.metrics.countImageFailure(failure.class);
    throw error;
  }
}

interface Creation extends ImageCreate {
  readonly parsed: ParsedImage;
  readonly pinned: PinnedPlan;
  readonly idempotencyKey: string | undefined;
}

async function generate(creation: Creation, deps: ImageCreateDeps): Promise<Reply> {
  const { caller, pinned, parsed, route, meta } = creation;
  const { images, answers, now } = deps;
  const repeat = await repeatOf(creation);
  const workspace = images.workspaces.open();
  const { openMedia, limits } = images;
  const converter = createImageConverter({ openMedia, workspace, pixelsMax: limits.pixelsMax });
  try {
    return await answers(
      { scope: [caller.account, route], repeat, closed: () => meta.closed() },
      async (image, keep) => {
        const createdSeconds = toSeconds(now());
        const delivery = await images.generate({
          image,
          account: caller.account,
          request: parsed.request,
          plan: pinned.plan,
          converter,
          ...(keep === undefined ? {} : { keep: (made) => keep(presentImages(made, createdSeconds)) }),
        });
        return presentImages(delivery, createdSeconds);
      },
    );
  } finally {
    await workspace.dispose();
  }
}

/** The header with which official clients count their own repeats. */
const retryCountHeader = 'x-stainless-retry-count';

async function repeatOf({ idempotencyKey, meta, parsed, caller }: Creation): Promise<Repeat> {
  const retries = meta.header(retryCountHeader);
  if (idempotencyKey !== undefined) {
    return { kind: 'key', key: idempotencyKey, fingerprint: await fingerprintImage(parsed.request) };
  }
  if (retries === undefined || !/^\d{1,3}$/.test(retries)) return { kind: 'none' };
  // Two keys of one account do not repeat each other's requests.
  const fingerprint = `${caller.key}:${await fingerprintImage(parsed.request)}`;
  return { kind: 'client_retry', retries: Number(retries), fingerprint };
}

/** Base64 of all images together: they travel in one document of 16 MB. */
const taskImageCharactersMax = 12 * 1024 * 1024;

async function createTask(creation: Creation, deps: ImageCreateDeps): Promise<Reply> {
  const { parsed, pinned, caller, route, idempotencyKey } = creation;
  const { callbackUrl, expiresAfterSeconds } = parsed;
  const request = await filesToData(parsed.request);
  const characters = [...request.images, ...(request.mask === undefined ? [] : [request.mask])]
    .map((input) => (input.form === 'data' ? input.base64.length : 0))
    .reduce((sum, length) => sum + length, 0);
  if (characters > taskImageCharactersMax) {
    throw new GatewayError(
      'request_too_large',
      `Model ${request.model} takes images of together at most ${taskImageCharactersMax} characters of base64. Send URLs.`,
      { param: 'image' },
    );
  }
  const task = await createOnce(creation, deps, {
    request,
    plan: { ...pinned.plan, request },
    caller,
    route,
    ...defined({ callbackUrl }),
    ...defined({ expiresAfterSeconds }),
    ...defined({ idempotencyKey }),
  });
  const headers = task.replayed ? { 'idempotency-replayed': 'true' } : undefined;
  const waitMs = waitOf(creation.meta);
  const finished = waitMs === 0 ? undefined : await waitForEnd(task, waitMs, creation.meta, deps);
  if (finished === undefined) return jsonReply(presentCreatedTask(task, 'image'), headers);
  return answerSynchronously(finished, headers, deps);
}

/** A client that repeats a create by itself, because its answer was lost or late, is given the task of its first try. */
async function createOnce(
  creation: Creation,
  deps: ImageCreateDeps,
  command: CreateTaskCommand,
): Promise<CreatedTask> {
  const repeat = await repeatOf(creation);
  const create = () => deps.admissions.run(command.caller.account, () => deps.createTask(command));
  if (repeat.kind !== 'client_retry') return create();
  const { caller, route, meta, pinned } = creation;
  let first: CreatedTask | undefined;
  const reply = await deps.answers(
    { scope: [caller.account, route], repeat, closed: () => meta.closed() },
    async () => {
      first = await create();
      return [first.id];
    },
  );
  // What the repeat is to find is the task, however the answer to this request ends.
  reply.onEnd?.();
  if (first !== undefined) return first;
  const id = Buffer.concat((reply.parts ?? []).map((part) => Buffer.from(part))).toString();
  const task = await deps.tasks.find(id);
  if (task === undefined) throw new GatewayError('service_unavailable', 'The task cannot be read now.');
  const { model, created_at: createdAt } = task;
  return { id, model, createdAt, warnings: pinned.plan.warnings, replayed: true };
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
  waitMs: number,
  meta: RequestMeta,
  { tasks, watcher, now }: ImageCreateDeps,
): Promise<TaskDocument | undefined> {
  const until = now() + waitMs;
  const signal = meta.closed();
  let task = await tasks.find(id);
  while (task !== undefined && !isTerminal(task.status)) {
    const timeoutMs = until - now();
    if (timeoutMs <= 0) return undefined;
    const { status, account } = task;
    task = await watcher.waitForChange({ task: id, account, status, timeoutMs, signal });
  }
  return task;
}

function answerSynchronously(
  task: TaskDocument,
  headers: Record<string, string> | undefined,
  { mediaUrl }: ImageCreateDeps,
): Reply {
  if (task.status === 'failed' || task.outcome?.kind !== 'succeeded') {
    const message = task.error?.message ?? 'The upstream made no image.';
    throw new GatewayError('provider_error', message, { headers: { ...headers, ...noRetry } });
  }
  const { created_at: created, data } = presentTask(task, mediaUrl);
  return jsonReply({ created, data }, headers);
}
