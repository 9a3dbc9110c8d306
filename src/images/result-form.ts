import { Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../base/defined.ts';
import { inTime } from '../base/in-time.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ImageRequest } from '../models/request.ts';
import type { Task } from '../task/record.ts';
import type { ResultItem } from '../task/task.ts';
import type { OpenLink } from '../http-client/index.ts';
import type { Base64Blob, GeneratedImage } from '../providers/provider.ts';
import { signatureBytes, UnkeepableError, type KeepImages } from '../models/stored-media.ts';
import { factsOfImages, type Delivery } from './call-channel.ts';
import { imageBytesMax } from './convert.ts';
import { noRetry } from './explain-failure.ts';
import { dataOf, totalBytes, unlinkedData } from '../models/image-data.ts';
import { timeLimit as limitRunning } from '../process/running-time.ts';
import { measuredImage, measuredLink } from './measure-image.ts';

export interface ResultFormDeps {
  readonly openLink: OpenLink;
  /** If undefined, results are not stored, and results that are data stay data. */
  readonly keepImages?: KeepImages | undefined;
  readonly openStored: (task: string, name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  readonly pause?: (ms: number) => Promise<unknown>;
  readonly timeLimit?: (ms: number) => AbortSignal;
}

export interface AskedForm {
  readonly image: string;
  readonly channel: string;
  readonly format: ImageRequest['responseFormat'];
  readonly measuresLinks: boolean;
  readonly reserve: (bytes: number) => void;
}

export interface ResultForms {
  readonly convert: (delivery: Delivery, asked: AskedForm) => Promise<Delivery>;
  readonly asData: (
    task: LinkedTask,
    items: readonly ResultItem[],
    reserve: AskedForm['reserve'],
  ) => Promise<readonly GeneratedImage[]>;
  readonly streamData: (task: LinkedTask, item: ResultItem) => Promise<StreamedData>;
  readonly keepsImages: boolean;
}

interface StreamedData {
  readonly head: string | Uint8Array;
  readonly pieces: AsyncIterable<string | Uint8Array>;
}

/** The task's channel determines which hosts the links may have. */
type LinkedTask = Pick<Task, 'id' | 'channel'>;

const fetchTimeoutMs = 60_000;
/** Short, because the caller is waiting. */
const headTimeoutMs = 5_000;

export function createResultForms(deps: ResultFormDeps): ResultForms {
  const { openLink, keepImages, openStored, pause = sleep, timeLimit = limitRunning } = deps;
  const open = async (channel: string, url: string, timeoutMs = fetchTimeoutMs) =>
    (await openLink(channel, { url, maxBytes: imageBytesMax, timeoutMs })).body;

  async function fetched(
    image: GeneratedImage,
    { channel, reserve }: Pick<AskedForm, 'channel' | 'reserve'>,
  ): Promise<GeneratedImage> {
    const { url, size, quality, base64: data } = image;
    if (data !== undefined || url === undefined) return image;
    return measuredImage({
      base64: await encode(await open(channel, url), reserve),
      ...defined({ size, quality }),
    });
  }

  async function openItem(
    { id, channel = '' }: LinkedTask,
    { stored, url }: ResultItem,
  ): Promise<AsyncIterable<Uint8Array>> {
    const copy = stored === undefined ? undefined : await openStored(id, stored.name);
    return copy ?? open(channel, url ?? '');
  }

  return {
    keepsImages: keepImages !== undefined,

    async convert(made, { image, format, measuresLinks, ...asked }) {
      // These bytes count until the response has been sent, but nobody refuses images that have been rendered.
      if (format !== 'url') isReserved(asked.reserve, totalBytes(dataOf(made.images)));
      try {
        if (format === 'b64_json') {
          const images = await arrived(made.images.map((one) => fetched(one, asked)));
          return { ...made, images, facts: factsOf(made, images) };
        }
        const head = (url: string) => open(asked.channel, url, headTimeoutMs);
        const delivery = measuresLinks ? await measured(made, head) : made;
        return format === undefined
          ? delivery
          : {
              ...delivery,
              images: await linked(image, delivery.images, { keepImages, pause, timeLimit, ...asked }),
            };
      } catch (error) {
        throw error instanceof GatewayError ? error : undeliverable(error);
      }
    },

    async asData(task, items, reserve) {
      return Promise.all(
        items.map(async (item) => {
          if (item.base64 !== undefined) return { base64: item.base64 };
          return { base64: await encode(await openItem(task, item), reserve) };
        }),
      );
    },

    async streamData(task, item) {
      if (item.base64 !== undefined) return { head: item.base64, pieces: Readable.from([item.base64]) };
      return withHead(base64Of(await openItem(task, item)));
    },
  };
}

async function linked(
  image: string,
  images: readonly GeneratedImage[],
  { keepImages, ...waiting }: Pick<ResultFormDeps, 'keepImages'> & StorageWait,
): Promise<GeneratedImage[]> {
  if (keepImages === undefined) return [...images];
  const data = unlinkedData(images);
  const keep = () => keepImages(image, data);
  const links = data.length === 0 ? [] : [...(await keptInTime(keep, totalBytes(data), waiting))];
  return images.map((one) => (one.url === undefined ? (links.shift() ?? one) : one));
}

const keepEveryMs = 1_000;
const keepMaxMs = 60_000;
/** After this time, storing the images is retried only if the process has memory for waiting images. */
const keepAtOnceMs = 5_000;

interface StorageWait
  extends Required<Pick<ResultFormDeps, 'pause' | 'timeLimit'>>, Pick<AskedForm, 'reserve'> {}

/**
 * The upstream has already rendered these images. The storage may be full, unreachable or unresponsive, so the caller
 * waits up to a minute, provided that the process has memory for the images.
 */
async function keptInTime<Kept>(
  keep: () => Promise<Kept>,
  bytes: number,
  { pause, reserve, timeLimit }: StorageWait,
): Promise<Kept> {
  const end = timeLimit(keepMaxMs);
  let isRoom: boolean | undefined;
  const mayWait = (): boolean => (isRoom ??= isReserved(reserve, bytes));
  for (;;) {
    try {
      return await tried(keep(), end, { mayWait, timeLimit });
    } catch (error) {
      // This error must not ask for a retry, because the images would be rendered and billed a second time.
      if (error instanceof UnkeepableError || end.aborted || !mayWait()) throw undeliverable(error);
      await pause(keepEveryMs);
      if (end.aborted) throw undeliverable(error);
    }
  }
}

async function tried<Kept>(
  work: Promise<Kept>,
  end: AbortSignal,
  { mayWait, timeLimit }: Pick<StorageWait, 'timeLimit'> & { readonly mayWait: () => boolean },
): Promise<Kept> {
  const late = new Error('the storage did not respond in time');
  try {
    return await inTime(AbortSignal.any([end, timeLimit(keepAtOnceMs)]), work, () => late);
  } catch (error) {
    if (error !== late || end.aborted || !mayWait()) throw error;
    return inTime(end, work, () => late);
  }
}

export function isReserved(reserve: AskedForm['reserve'], bytes: number): boolean {
  try {
    reserve(bytes);
    return true;
  } catch {
    return false;
  }
}

function undeliverable(cause: unknown): GatewayError {
  const message = 'The images could not be delivered in the requested form. Nothing was charged.';
  return new GatewayError('provider_error', message, { headers: noRetry, cause });
}

async function measured(delivery: Delivery, openHead: Parameters<typeof measuredLink>[1]): Promise<Delivery> {
  const images = await Promise.all(delivery.images.map((image) => measuredLink(image, openHead)));
  return { ...delivery, images, facts: factsOf(delivery, images) };
}

/** Reads the first chunk immediately, so that the promise rejects if the file cannot be opened. */
async function withHead(rest: AsyncGenerator<Uint8Array, void, undefined>): Promise<StreamedData> {
  const first = await rest.next();
  const head = first.done === true ? '' : first.value;
  async function* all() {
    yield head;
    yield* rest;
  }
  return { head, pieces: all() };
}

/**
 * The upstream counts tokens for every image that it rendered. Only the share of the images that arrived is charged,
 * rounded up.
 */
function factsOf(
  { images: { length: made }, facts }: Delivery,
  images: readonly GeneratedImage[],
): Delivery['facts'] {
  const { length: arrived } = images;
  const { usage, groups: _groups, ...others } = facts;
  const share = (tokens: number) => Math.ceil((tokens * arrived) / made);
  const shared = Object.entries<number>({ ...usage }).map(([name, tokens]) => [name, share(tokens)] as const);
  return {
    ...others,
    ...(usage === undefined ? {} : { usage: Object.fromEntries(shared) }),
    ...factsOfImages(images, facts),
  };
}

async function arrived(images: readonly Promise<GeneratedImage>[]): Promise<GeneratedImage[]> {
  const results = await Promise.allSettled(images);
  const there = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (there.length === 0 && failed !== undefined) throw failed.reason;
  return there;
}

/** Encodes in chunks, so that an image never becomes a single string. */
async function encode(body: AsyncIterable<Uint8Array>, reserve: AskedForm['reserve']): Promise<Base64Blob> {
  const chunks: Buffer[] = [];
  for await (const text of base64Of(body)) {
    reserve(text.length);
    chunks.push(text);
  }
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { chunks, bytes, verbatim: true, toString: () => Buffer.concat(chunks).toString('latin1') };
}

async function* base64Of(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  const encoded = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('base64'), 'latin1');
  let rest = Buffer.alloc(0);
  let isChecked = false;
  for await (const piece of body) {
    rest = Buffer.concat([rest, piece]);
    if (rest.length < signatureBytes) continue;
    if (!isChecked) checkImage(rest);
    isChecked = true;
    const whole = rest.length - (rest.length % 3);
    yield encoded(rest.subarray(0, whole));
    rest = rest.subarray(whole);
    // Yield, because reading from a disk would otherwise monopolise the event loop.
    await turn();
  }
  if (!isChecked) checkImage(rest);
  if (rest.length > 0) yield encoded(rest);
}

/**
 * Rejects empty files, HTML and JSON, such as a page that explains why there is no image. Accepts everything else,
 * because an upstream may use a format that we do not know.
 */
function checkImage(head: Buffer): void {
  const isPage = /^\s*(?:<!doctype|<html|\{)/i.test(head.toString('latin1', 0, signatureBytes));
  if (head.length === 0 || isPage) throw new TypeError('the link does not point to an image');
}
