import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { defined } from '../base/defined.ts';
import { GuardedRequestError } from '../http-client/index.ts';
import type { OpenLink } from '../http-client/index.ts';
import { signatureBytes } from '../models/stored-media.ts';
import type { StoredMedia } from '../models/stored-media.ts';
import { extensionOf, mediaTypeOf } from './media-types.ts';
import { evidenceOf } from './open-links.ts';
import type { LinkEvidence } from '../routing/delivery.ts';
import type { ResultStorage } from './storage.ts';

interface CopyFailure {
  /** No retry helps. */
  readonly final?: boolean;
  /** `opens`: the file is too large or of another type, its time ran out, or the fault is our storage's. */
  readonly link?: LinkEvidence;
  readonly cause?: unknown;
}

/** Why a file is not copied. */
export class CopyError extends Error {
  readonly final: boolean;
  readonly link: LinkEvidence;

  constructor(message: string, { final = false, link = 'opens', cause }: CopyFailure = {}) {
    super(message, { cause });
    this.final = final;
    this.link = link;
  }
}

export interface CopyFileDeps {
  readonly storage: Pick<ResultStorage, 'write'>;
  /** Results' addresses come from an upstream: hostile until checked. */
  readonly openLink: OpenLink;
  readonly maxBytes: number;
}

/** A file that takes longer is not copied, whatever the caller's own limit. */
const fileTimeoutMs = 10 * 60_000;

export interface FileCopy {
  readonly task: string;
  /** The channel whose answer has the link. */
  readonly channel: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Name without its extension, which the first bytes decide. */
  readonly stem: string;
  readonly signal: AbortSignal;
}

export type CopiedFile = Pick<StoredMedia, 'name' | 'sha256'>;

const tooLong = 'the copy took too long';

/** Streams one file. */
export async function copyFile(deps: CopyFileDeps, copy: FileCopy): Promise<CopiedFile> {
  const { task, channel, url, stem, signal, headers } = copy;
  const { maxBytes } = deps;
  const fetch = { url, maxBytes, timeoutMs: fileTimeoutMs, signal, ...defined({ headers }) };
  const media = await deps.openLink(channel, fetch);
  const source = media.body[Symbol.asyncIterator]();
  let hasOpened = false;
  try {
    const head = await readHead(source);
    if (head.length === 0) throw new CopyError('the file is empty', { link: 'refused' });
    hasOpened = true;
    const extension = extensionOf(head);
    if (extension === undefined)
      throw new CopyError('the file has a type that is not stored', { final: true });
    const name = `${stem}.${extension}`;
    const hash = createHash('sha256');
    const whole = hashed(followedBy(head, source, media.bytes), hash);
    await before(signal, deps.storage.write(`${task}/${name}`, whole, mediaTypeOf(name) ?? ''));
    return { name, sha256: hash.digest('hex') };
  } catch (error) {
    // The end of our time breaks the body, too.
    throw hasOpened && signal.aborted ? new CopyError(tooLong, { cause: error }) : error;
  } finally {
    await source.return?.();
  }
}

/** A storage that hangs must not hold up the task: the write continues in the background, and may be repeated. */
function before<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(new CopyError(tooLong));
    work.then(resolve, reject);
    // What had arrived by then is still read, so that the write may begin after the end of its time.
    if (signal.aborted) expire();
    else signal.addEventListener('abort', expire, { once: true });
  });
}

async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < signatureBytes) {
    const next = await source.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

/** What passes is in the hash. */
export async function* hashed<Piece extends Uint8Array>(
  body: AsyncIterable<Piece>,
  hash: Hash,
): AsyncGenerator<Piece, void, undefined> {
  for await (const piece of body) {
    hash.update(piece);
    yield piece;
  }
}

/** A body that is shorter than announced is broken, and must not be kept. */
async function* followedBy(
  head: Buffer,
  source: AsyncIterator<Uint8Array>,
  announced: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = head.length;
  yield head;
  for (;;) {
    const next = await source.next();
    if (next.done === true) break;
    bytes += next.value.byteLength;
    yield next.value;
  }
  if (announced !== undefined && bytes !== announced) {
    throw new CopyError(`the file has ${bytes} of ${announced} bytes`, { link: 'silent' });
  }
}

const finalCodes: readonly string[] = ['address_refused', 'answer_too_large', 'encoded_answer'];

export function asCopyError(error: unknown): CopyError {
  if (error instanceof CopyError) return error;
  if (error instanceof GuardedRequestError) {
    const { code, message } = error;
    const final = finalCodes.includes(code);
    return new CopyError(`${code}: ${message}`, { final, link: evidenceOf(error), cause: error });
  }
  return new CopyError(error instanceof Error ? error.message : 'unknown', { cause: error });
}
