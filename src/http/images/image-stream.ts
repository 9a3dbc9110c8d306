import { GatewayError } from '../../errors/errors.ts';
import type { ImageRequest } from '../../models/request.ts';
import { isTerminal } from '../../task/task.ts';
import type { ResultItem } from '../../task/task.ts';
import type { Task } from '../../task/record.ts';
import type { CreatedTask } from '../../commands/create-task.ts';
import { createdHeaders } from '../cost-headers.ts';
import { eventStream } from '../event-stream.ts';
import { presentError, translateError } from '../error-response.ts';
import { presentStreamEvent } from '../presenters/image-event.ts';
import { presentLink } from '../presenters/image.ts';
import { presentImageUsage } from '../presenters/image-usage.ts';
import { toSeconds } from '../presenters/unix-seconds.ts';
import type { BodyPart, Reply, RequestMeta } from '../route.ts';
import { changesOf } from '../task-changes.ts';
import type { ImageBody } from './image-body.ts';
import { endedImages } from './ended-images.ts';
import type { ImageCreateDeps } from './image-create.ts';

/** Names the images' entries in the ledger, their receipt, and of a stream its task. */
export const imageHeader = 'x-mediary-image';

export interface StreamedImage {
  readonly task: CreatedTask;
  readonly body: ImageBody;
  readonly operation: ImageRequest['operation'];
  readonly meta: RequestMeta;
  /** Names of fields that nothing reads. */
  readonly ignored: readonly string[];
}

/** Proxies take a connection for dead on which nothing comes for a minute, some after half of one. */
const commentMs = 15_000;
/** While partial images are awaited. */
const lookMs = 500;

/**
 * What comes of a task, as OpenAI's events: unfinished images, then each image, or the error. The task does not depend on
 * the stream: who loses it finds the images at the id in the headers.
 */
export function streamReply(streamed: StreamedImage, deps: ImageCreateDeps): Reply {
  const { task, ignored } = streamed;
  const warnings = [...ignored, ...task.warnings];
  return eventStream(partsOf(streamed, deps), {
    [imageHeader]: task.id,
    ...createdHeaders(task),
    ...(warnings.length === 0 ? {} : { 'x-mediary-warning': warnings.join('; ') }),
  });
}

async function* partsOf(streamed: StreamedImage, deps: ImageCreateDeps): AsyncGenerator<BodyPart> {
  const { task, meta } = streamed;
  const signal = meta.closed();
  try {
    yield `: ${task.id}\n\n`;
    const ended = yield* waitFor(streamed, signal, deps);
    if (ended !== undefined) yield* endOf(ended, streamed, deps);
  } catch (error) {
    if (signal.aborted) return;
    const known = translateError(error);
    if (known.code === 'internal_error') deps.log.error({ task: task.id, err: error }, 'a stream failed');
    yield* presentStreamEvent('error', { type: 'error', ...presentError(known) });
  }
}

/** Partial images and comments until the task has ended; undefined: nobody reads any more. */
async function* waitFor(
  { task: { id }, body, operation }: StreamedImage,
  signal: AbortSignal,
  deps: ImageCreateDeps,
): AsyncGenerator<BodyPart, Task | undefined> {
  const { partial_images: awaited = 0 } = body;
  let saidAt = deps.now();
  let seen = 0;
  let task = await deps.tasks.find(id);
  if (task === undefined) return undefined;
  const everyMs = () => (seen < awaited ? lookMs : commentMs);
  for await (const changed of changesOf(task, { everyMs, signal }, deps)) {
    task = changed ?? task;
    for (; seen < awaited; seen += 1) {
      const partial = await deps.partialImages.find(id, seen);
      if (partial === undefined) break;
      const about = { ...eventOf(body, deps), partial_image_index: seen };
      yield* presentStreamEvent(`${eventPrefix[operation]}.partial_image`, about, [partial]);
      saidAt = deps.now();
    }
    if (isTerminal(task.status)) return task;
    if (deps.now() - saidAt < commentMs) continue;
    yield ': waiting\n\n';
    saidAt = deps.now();
  }
  if (signal.aborted) return undefined;
  throw restarting(id);
}

const eventPrefix = {
  generate: 'image_generation',
  edit: 'image_edit',
} as const satisfies Record<ImageRequest['operation'], string>;

async function* endOf(task: Task, streamed: StreamedImage, deps: ImageCreateDeps): AsyncGenerator<BodyPart> {
  const { body, operation } = streamed;
  const { images: links } = endedImages(task, deps);
  const { items, facts } = task.outcome?.kind === 'succeeded' ? task.outcome : { items: [], facts: {} };
  for (const [n, item] of items.entries()) {
    const data = body.response_format === 'url' ? undefined : await openData(task, item, deps);
    // A sum over the events is the sum of the images.
    const usage = presentImageUsage(n === items.length - 1 ? facts : {});
    const about = {
      ...eventOf(body, deps),
      ...(data === undefined ? presentLink(links[n] ?? {}) : {}),
      usage,
    };
    yield* presentStreamEvent(`${eventPrefix[operation]}.completed`, about, data);
  }
}

/** Undefined: it cannot be opened now. It is paid, and its link is the answer. */
async function openData(task: Task, item: ResultItem, { images, log }: ImageCreateDeps) {
  try {
    return await images.streamData(task, item);
  } catch (err) {
    log.warn({ task: task.id, err }, 'a result could not be given as data');
    return undefined;
  }
}

/** As it was asked for: an upstream's answer says it of its own images at the most. */
function eventOf(body: ImageBody, { now }: Pick<ImageCreateDeps, 'now'>): object {
  const { background = 'auto', output_format = 'png', quality = 'auto', size = 'auto' } = body;
  return { created_at: toSeconds(now()), background, output_format, quality, size };
}

function restarting(id: string): GatewayError {
  return new GatewayError(
    'service_unavailable',
    `The gateway restarts. The image is not affected: GET /v1/images/generations/${id} has it.`,
  );
}
