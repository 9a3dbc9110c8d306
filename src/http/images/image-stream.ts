import { GatewayError } from '../../errors/errors.ts';
import { isReserved } from '../../images/result-form.ts';
import { isTerminal, type ResultItem } from '../../task/task.ts';
import type { Task } from '../../task/record.ts';
import type { CreatedTask } from '../../commands/create-task.ts';
import { renamed, type TheirName } from '../../intake/their-words.ts';
import { createdHeaders } from '../cost-headers.ts';
import { eventStream } from '../event-stream.ts';
import { translateError } from '../error-response.ts';
import { factsOfEvent, type ImageStreamPresenter } from '../presenters/image-event.ts';
import { imageTypeOfHead, presentLink } from '../presenters/image.ts';
import { toSeconds } from '../presenters/unix-seconds.ts';
import type { BodyPart, Reply, RequestMeta } from '../route.ts';
import { changesOf } from '../task-changes.ts';
import type { ImageBody } from './image-body.ts';
import { endedImages } from './ended-images.ts';
import type { ImageCreateDeps } from './image-create.ts';

/** The header with the images' id, which their ledger entries and receipt share. For a stream, it is the task's id. */
export const imageHeader = 'x-mediary-image';

export interface ImageStream {
  readonly task: CreatedTask;
  readonly body: ImageBody;
  readonly meta: RequestMeta;
  readonly nameOf: TheirName;
  readonly presenter: ImageStreamPresenter;
  readonly warnings: readonly string[];
}

/** Comments keep the connection alive. Proxies close a connection after a minute of silence, some after 30 s. */
const commentMs = 15_000;
const lookMs = 500;
export const partialReadsMax = { name: 'partial images read', placesMax: 8, shareMax: 2 } as const;

/**
 * Streams the images. The stream ends with the final images or an error. The task survives a dropped connection, and
 * the caller can still get the images by the id in the headers.
 */
export function streamReply(stream: ImageStream, deps: ImageCreateDeps): Reply {
  const { task, warnings } = stream;
  return eventStream(partsOf(stream, deps), {
    [imageHeader]: task.id,
    ...createdHeaders(task),
    ...(warnings.length === 0 ? {} : { 'x-mediary-warning': inAscii(warnings.join('; ')) }),
  });
}

/** Field names come from callers, but a header must be ASCII, so other characters are escaped as in JSON (`\u00e9`). */
function inAscii(text: string): string {
  return text.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

async function* partsOf(stream: ImageStream, deps: ImageCreateDeps): AsyncGenerator<BodyPart> {
  const { task, meta, nameOf, presenter } = stream;
  const signal = meta.closed();
  try {
    yield `: ${task.id}\n\n`;
    const ended = yield* waitFor(stream, signal, deps);
    if (ended !== undefined) yield* endOf(ended, stream, deps);
  } catch (error) {
    if (signal.aborted) return;
    const known = renamed(translateError(error), nameOf);
    if (known.code === 'internal_error') deps.log.error({ task: task.id, err: error }, 'a stream failed');
    yield presenter.error(known);
  }
}

/** Returns undefined if the reader disconnects. */
async function* waitFor(
  { task: { id }, body, meta, presenter: { partial } }: ImageStream,
  signal: AbortSignal,
  deps: ImageCreateDeps,
): AsyncGenerator<BodyPart, Task | undefined> {
  const { partial_images: wanted = 0 } = body;
  const awaited = partial === undefined ? 0 : wanted;
  let saidAt = deps.now();
  let seen = 0;
  let task = await deps.tasks.find(id);
  if (task === undefined) return undefined;
  const everyMs = () => (seen < awaited ? lookMs : commentMs);
  for await (const changed of changesOf(task, { everyMs, signal }, deps)) {
    task = changed ?? task;
    for (; partial !== undefined && seen < awaited; seen += 1) {
      const place = await deps.partialReads.wait(task.account, signal);
      if (place === undefined) return undefined;
      const unfinished = await deps.partialImages.find(id, seen).finally(() => place.leave());
      if (unfinished === undefined) break;
      // The image stays in memory until the caller has read it. Without room for it, the caller gets the later ones.
      if (!isReserved((bytes) => meta.reserve(bytes), unfinished.length)) continue;
      const { before, after } = partial(seen, toSeconds(deps.now()));
      yield before;
      yield unfinished;
      yield after;
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

async function* endOf(
  task: Task,
  { body, presenter, warnings }: ImageStream,
  deps: ImageCreateDeps,
): AsyncGenerator<BodyPart> {
  const { images: links } = endedImages(task, deps);
  const { items, facts } = task.outcome?.kind === 'succeeded' ? task.outcome : { items: [], facts: {} };
  const all = { createdSeconds: toSeconds(deps.now()), facts, warnings };
  for (const [index, item] of items.entries()) {
    const data = body.response_format === 'url' ? undefined : await openData(task, item, deps);
    const link = presentLink(links[index] ?? {});
    const mediaType = data === undefined ? undefined : imageTypeOfHead(data.head);
    const about = factsOfEvent(all, index === items.length - 1);
    const { before, after } = presenter.image({ index, mediaType, link }, about);
    yield before;
    if (data !== undefined) yield* data.pieces;
    yield after;
  }
  const end = presenter.end(items.length, all);
  if (end !== '') yield end;
}

/**
 * Returns undefined if the result cannot be opened at present. The caller has paid for the result and gets a link
 * instead.
 */
async function openData(task: Task, item: ResultItem, { images, log }: ImageCreateDeps) {
  try {
    return await images.streamData(task, item);
  } catch (err) {
    log.warn({ task: task.id, err }, 'a result could not be returned as data');
    return undefined;
  }
}

function restarting(id: string): GatewayError {
  return new GatewayError(
    'service_unavailable',
    `The gateway is restarting. The image is not affected: GET /v1/images/generations/${id} returns it.`,
  );
}
