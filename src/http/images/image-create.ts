import { z } from 'zod';
import type { Caller } from '../../access/caller.ts';
import { defined } from '../../base/defined.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { ImageRequest } from '../../models/request.ts';
import { isTerminal } from '../../task/task.ts';
import type { AsTask, CreatedImages } from '../../images/create-images.ts';
import type { Task } from '../../task/record.ts';
import type { CreatedTask } from '../../commands/create-task.ts';
import { createErrors } from '../create-errors.ts';
import { costHeaders, createdHeaders, replayedHeader } from '../cost-headers.ts';
import type { ImageRouteDeps, RouteDeps } from '../deps.ts';
import { presentError } from '../error-response.ts';
import { eventStreamType } from '../event-stream.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import type { ImageBody } from './image-body.ts';
import { endedImages } from './ended-images.ts';
import { imageHeader, streamReply } from './image-stream.ts';
import { inTheirWords } from '../../intake/their-words.ts';
import type { Understood } from '../../intake/understand.ts';
import { readImage, type ParsedImage } from './image-request.ts';
import { imageBody } from './image-upload.ts';
import { noRetry } from '../../images/explain-failure.ts';
import { capHeaders } from '../presenters/cap.ts';
import { createdTaskSchema, presentCreatedTask } from '../presenters/created-task.ts';
import { imageEventSchema, openaiStream } from '../presenters/image-event.ts';
import { imageAnswerSchema, presentImages, type ImagePresenter } from '../presenters/image.ts';
import { toSeconds } from '../presenters/unix-seconds.ts';
import { jsonReply, partsReply, type Reply, type RequestMeta } from '../route.ts';

export type ImageCreateDeps = Pick<
  RouteDeps,
  | 'catalogue'
  | 'images'
  | 'createTask'
  | 'admissions'
  | 'tasks'
  | 'watcher'
  | 'metrics'
  | 'checkCallbackUrl'
  | 'checkMediaUrl'
  | 'storedFiles'
  | 'mediaUrl'
  | 'partialImages'
  | 'partialReads'
  | 'isDraining'
  | 'log'
  | 'now'
>;

export interface ImageCreate {
  readonly operation: ImageRequest['operation'];
  readonly route: string;
  readonly asked: Understood;
  readonly caller: Caller;
  readonly meta: RequestMeta;
  /** Undefined for our own API, which may also respond with a task. */
  readonly presenter?: ImagePresenter;
  readonly asTask?: true;
}

export function imageCreate({ workspaces, limits }: Pick<ImageRouteDeps, 'workspaces' | 'limits'>) {
  return {
    tag: 'Images',
    method: 'post',
    readBody: imageBody(workspaces, limits),
    headers: idempotencyHeader.extend({
      prefer: z
        .string()
        .optional()
        .meta({ description: '`respond-async`, or `wait=N`, where N is a number of seconds.' }),
    }),
    success: {
      description: 'The images, or the task.',
      schema: z.union([imageAnswerSchema, createdTaskSchema]),
      event: imageEventSchema,
      mediaType: ['application/json', eventStreamType],
    },
    errors: [...createErrors, 'content_policy_violation', 'provider_error'],
  } as const;
}

export function createImages(create: ImageCreate, deps: ImageCreateDeps): Promise<Reply> {
  return counted(create, deps, (made) => replyTo(made.created, { ...create, ...made }, deps));
}

export interface CreatedImageTask {
  readonly task: CreatedTask;
  readonly warnings: readonly string[];
}

export function createImageTask(create: ImageCreate, deps: ImageCreateDeps): Promise<CreatedImageTask> {
  return counted({ ...create, asTask: true }, deps, async ({ created, ignored }) => {
    if (created.kind !== 'task')
      throw new Error('An image request that must run as a task was handled synchronously.');
    const { task } = created;
    create.meta.concerns(task.id);
    return { task, warnings: [...ignored, ...task.warnings.map(create.asked.nameOf)] };
  });
}

async function counted<Result>(
  create: ImageCreate,
  deps: ImageCreateDeps,
  present: (made: Made) => Promise<Result>,
): Promise<Result> {
  try {
    const made = await inTheirWords(create.asked.nameOf, () => carryOut(create, deps));
    const { created } = made;
    const replayed = created.kind === 'task' ? created.task.replayed : created.answer.replayed;
    const result = await present(made);
    deps.metrics.countCreate(replayed ? 'replayed' : 'created');
    return result;
  } catch (error) {
    deps.metrics.countCreate(error instanceof GatewayError ? error.code : 'internal_error');
    const failure = error instanceof GatewayError ? error.failure : undefined;
    if (failure !== undefined) deps.metrics.countImageFailure(failure.class);
    throw error;
  }
}

interface Read extends Pick<ParsedImage, 'ignored'> {
  readonly body: ImageBody;
}

interface Made extends Read {
  readonly created: CreatedImages;
}

async function carryOut(create: ImageCreate, deps: ImageCreateDeps): Promise<Made> {
  const idempotencyKey = idempotencyKeyOf(create.meta);
  const { asked, caller, route, meta, presenter = openaiPresenter } = create;
  const { ignored, body, ...parsed } = await readImage(create, deps, { linksLater: true });
  const createdSeconds = toSeconds(deps.now());
  const unread = [...ignored, ...namesOfTasks(parsed)];
  const traced = defined({ traceparent: meta.traceparent });
  const created = await deps.images.create({
    ...parsed,
    caller,
    route,
    sent: meta.clientTry(),
    ...defined({ idempotencyKey }),
    ...traced,
    asTask: asTaskOf(create, body),
    closed: () => meta.closed(),
    reserve: (bytes) => meta.reserve(bytes),
    requireRoom: (bytes) => meta.requireRoom(bytes),
    createTask: (command) =>
      deps.admissions.run(caller.account, () =>
        deps.createTask({ ...command, ...traced, requestId: meta.id }),
      ),
    present: {
      images: (delivery, warnings) =>
        presenter.images(delivery, { createdSeconds, warnings: [...unread, ...warnings.map(asked.nameOf)] }),
      error: (error) => JSON.stringify(presenter.error(error)),
    },
  });
  return { created, ignored, body };
}

function namesOfTasks({ callbackUrl, expiresAfterSeconds }: Partial<ParsedImage>): string[] {
  return [
    ...(callbackUrl === undefined ? [] : ['metadata.callback_url']),
    ...(expiresAfterSeconds === undefined ? [] : ['metadata.execution_expires_after']),
  ];
}

async function replyTo(
  created: CreatedImages,
  { meta, asked: { nameOf }, body, operation, ignored, presenter }: ImageCreate & Read,
  deps: ImageCreateDeps,
): Promise<Reply> {
  const { currency } = deps.catalogue.current();
  const ownStream = body.stream === true ? openaiStream(operation, body) : undefined;
  const stream = presenter === undefined ? ownStream : presenter.stream;
  if (created.kind === 'answer') {
    const isStream = stream !== undefined && created.answer.status === 200;
    const mediaType = isStream ? eventStreamType : undefined;
    return { ...replyAtOnce(created.answer, currency), ...defined({ mediaType }) };
  }
  const { task } = created;
  meta.concerns(task.id);
  if (stream !== undefined) {
    const warnings = [...ignored, ...task.warnings.map(nameOf)];
    return streamReply({ task, body, meta, nameOf, warnings, presenter: stream }, deps);
  }
  const waitMs = presenter === undefined ? waitOf(meta) : longestWaitMs;
  const finished = waitMs === 0 ? undefined : await waitForEnd(task, { waitMs, signal: meta.closed() }, deps);
  const wantsData = body.response_format === 'b64_json';
  if (finished === undefined && presenter !== undefined) throw stillRendering(task);
  if (finished === undefined) {
    // A caller who reads the task later always gets links, so `response_format` has no effect.
    const unread = wantsData ? ['response_format'] : [];
    const warnings = [...ignored, ...unread, ...task.warnings.map(nameOf)];
    return jsonReply(presentCreatedTask(task, 'image', warnings), createdHeaders(task));
  }
  const replayed = task.replayed ? replayedHeader : {};
  const linked = await inTheirWords(nameOf, async () => endedImages(finished, deps, replayed));
  // A repeated request costs nothing more.
  const charge = task.replayed ? undefined : finished.charge;
  const headers = { ...costHeaders(charge, currency), ...capHeaders(task.cap), ...replayed };
  const warnings = [...ignored, ...task.warnings.map(nameOf)];
  const made = wantsData
    ? { ...linked, images: (await dataOf(finished, meta, deps)) ?? linked.images }
    : linked;
  const about = { createdSeconds: toSeconds(finished.createdAt), warnings };
  const parts = (presenter ?? openaiPresenter).images(made, about);
  return partsReply(parts, { ...headers, [imageHeader]: task.id });
}

/**
 * Returns undefined if a result cannot be opened at present. The caller has paid for the images and gets links instead.
 */
async function dataOf(task: Task, meta: RequestMeta, { images, log }: ImageCreateDeps) {
  const { outcome } = task;
  if (outcome?.kind !== 'succeeded') return undefined;
  try {
    return await images.asData(task, outcome.items, (bytes) => meta.reserve(bytes));
  } catch (err) {
    log.warn({ task: task.id, err }, 'results could not be returned as data');
    return undefined;
  }
}

type Answer = Extract<CreatedImages, { kind: 'answer' }>['answer'];

function replyAtOnce({ status, parts, replayed, onEnd, ...answer }: Answer, currency: string): Reply {
  const image = answer.image === undefined ? {} : { [imageHeader]: answer.image };
  const money = { ...costHeaders(answer.charge, currency), ...capHeaders(answer.cap) };
  const headers = { ...money, ...image, ...answer.headers };
  const all = replayed ? { ...replayedHeader, ...headers } : headers;
  return { ...partsReply(parts, all), status, ...defined({ onEnd }) };
}

const openaiPresenter: ImagePresenter = { images: presentImages, error: presentError };

function asTaskOf({ asTask, presenter, meta }: ImageCreate, body: ImageBody): AsTask {
  if (presenter?.stream !== undefined) return 'preferred';
  return asTask === true || (presenter === undefined && asksForTask(body, meta));
}

function asksForTask({ async: isAsync, stream }: ImageBody, meta: RequestMeta): boolean {
  if (isAsync === true || stream === true) return true;
  return /(?:^|[\s,;])respond-async(?:$|[\s,;])/i.test(meta.header('prefer') ?? '');
}

const waitSecondsMax = 120;
const longestWaitMs = 600_000;

/** `noRetry` keeps clients from retrying the request, which would create a second image. */
function stillRendering({ id }: CreatedTask): GatewayError {
  return new GatewayError(
    'service_unavailable',
    `The image is not ready yet. Its task continues: GET /v1/images/generations/${id} will return it.`,
    { headers: { ...noRetry, [imageHeader]: id } },
  );
}

function waitOf(meta: RequestMeta): number {
  const seconds = Number(
    /(?:^|[\s,;])wait=(\d{1,6})(?:$|[\s,;])/i.exec(meta.header('prefer') ?? '')?.[1] ?? 0,
  );
  return Math.min(seconds, waitSecondsMax) * 1000;
}

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
