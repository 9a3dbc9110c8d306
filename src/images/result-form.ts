import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ImageRequest } from '../models/request.ts';
import type { KeepImages } from '../models/stored-media.ts';
import type { Task } from '../task/record.ts';
import type { ResultItem } from '../task/task.ts';
import type { OpenLink } from '../http-client/index.ts';
import type { Base64Blob, GeneratedImage } from '../providers/provider.ts';
import { signatureBytes } from '../models/stored-media.ts';
import { factsOfImages } from './call-channel.ts';
import type { Delivery } from './call-channel.ts';
import { imageBytesMax } from './convert.ts';
import { noRetry } from './explain-failure.ts';
import { measuredImage, measuredLink } from './measure-image.ts';

export interface ResultFormDeps {
  readonly openLink: OpenLink;
  /** Absent: no results are kept, and data stays data. */
  readonly keepImages?: KeepImages | undefined;
  /** The bytes of a copy of ours; undefined: it is gone, or none are kept. */
  readonly openStored: (task: string, name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
}

export interface AskedForm {
  /** `img_…` */
  readonly image: string;
  /** The channel that answered. */
  readonly channel: string;
  readonly format: ImageRequest['responseFormat'];
  /** Whether the charge depends on pixel sizes that must be read from the images. */
  readonly measuresLinks: boolean;
  /** Reserves memory until the answer. Throws GatewayError where there is none. */
  readonly reserve: (bytes: number) => void;
}

/** Gives results the form that the caller asked for, whichever the upstream answered with. */
export interface ResultForms {
  /** What cannot be converted has not arrived. Throws GatewayError if nothing has. */
  readonly convert: (delivery: Delivery, asked: AskedForm) => Promise<Delivery>;
  /** Results of a task as data. Rejects if one cannot be opened. */
  readonly asData: (
    task: LinkedTask,
    items: readonly ResultItem[],
    reserve: AskedForm['reserve'],
  ) => Promise<readonly GeneratedImage[]>;
  /** One result of a task as base64, piece by piece. Rejects if it cannot be opened. */
  readonly streamData: (task: LinkedTask, item: ResultItem) => Promise<StreamedData>;
  readonly keepsImages: boolean;
}

interface StreamedData {
  /** The first piece. `pieces` contains it, too. */
  readonly head: string | Uint8Array;
  readonly pieces: AsyncIterable<string | Uint8Array>;
}

/** The channel decides where the links of the results may lead. */
type LinkedTask = Pick<Task, 'id' | 'channel'>;

const fetchTimeoutMs = 60_000;
/** Short, because the caller waits for the answer in the meantime. */
const headTimeoutMs = 5_000;

export function createResultForms({ openLink, keepImages, openStored }: ResultFormDeps): ResultForms {
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
      try {
        if (format === 'b64_json') {
          const images = await arrived(made.images.map((one) => fetched(one, asked)));
          return { ...made, images, facts: factsOf(made, images) };
        }
        const head = (url: string) => open(asked.channel, url, headTimeoutMs);
        const delivery = measuresLinks ? await measured(made, head) : made;
        return format === undefined
          ? delivery
          : { ...delivery, images: await linked(image, delivery.images, keepImages) };
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
  keepImages: KeepImages | undefined,
): Promise<GeneratedImage[]> {
  if (keepImages === undefined) return [...images];
  const data = images.flatMap(({ url, base64 }) =>
    url === undefined && base64 !== undefined ? [base64] : [],
  );
  const links = data.length === 0 ? [] : [...(await keepImages(image, data))];
  return images.map((one) => (one.url === undefined ? (links.shift() ?? one) : one));
}

function undeliverable(cause: unknown): GatewayError {
  const message = 'The images could not be delivered in the requested form. Nothing was charged.';
  return new GatewayError('provider_error', message, { headers: noRetry, cause });
}

async function measured(delivery: Delivery, openHead: Parameters<typeof measuredLink>[1]): Promise<Delivery> {
  const images = await Promise.all(delivery.images.map((image) => measuredLink(image, openHead)));
  return { ...delivery, images, facts: factsOf(delivery, images) };
}

/** Reads the first piece at once, so that it rejects if the file cannot be opened. */
async function withHead(rest: AsyncGenerator<Uint8Array, void, undefined>): Promise<StreamedData> {
  const first = await rest.next();
  const head = first.done === true ? '' : first.value;
  async function* all() {
    yield head;
    yield* rest;
  }
  return { head, pieces: all() };
}

/** Tokens are counted for all images that were made: of those that arrived, it is their share, rounded up. */
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

/** Rejects only if none has arrived. */
async function arrived(images: readonly Promise<GeneratedImage>[]): Promise<GeneratedImage[]> {
  const results = await Promise.allSettled(images);
  const there = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (there.length === 0 && failed !== undefined) throw failed.reason;
  return there;
}

/** What is kept is the text, in pieces: an image is never one string. */
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
    // A disk delivers faster than others get a turn.
    await turn();
  }
  if (!isChecked) checkImage(rest);
  if (rest.length > 0) yield encoded(rest);
}

/** Upstreams may render in formats that nobody here knows; a page that explains why there is no image is none. */
function checkImage(head: Buffer): void {
  const isPage = /^\s*(?:<!doctype|<html|\{)/i.test(head.toString('latin1', 0, signatureBytes));
  if (head.length === 0 || isPage) throw new TypeError('the link does not lead to an image');
}
