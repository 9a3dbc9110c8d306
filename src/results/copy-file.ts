import { createHash, type Hash } from 'node:crypto';
import { defined } from '../base/defined.ts';
import { inTime } from '../base/in-time.ts';
import { NotStoredError } from '../errors/not-stored.ts';
import { GuardedRequestError, type OpenLink } from '../http-client/index.ts';
import { signatureBytes, type StoredMedia } from '../models/stored-media.ts';
import { extensionOf, mediaTypeOf } from './media-types.ts';
import { evidenceOf } from './open-links.ts';
import type { LinkEvidence } from '../routing/delivery.ts';
import type { ResultStorage } from './storage.ts';

interface CopyFailure {
  readonly final?: boolean;
  /**
   * What the failure reveals about the link. `opens` means that the link is fine, and that the file or our storage
   * caused the failure.
   */
  readonly link?: LinkEvidence;
  readonly cause?: unknown;
}

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
  readonly openLink: OpenLink;
  readonly maxBytes: number;
}

const fileTimeoutMs = 10 * 60_000;

export interface FileCopy {
  readonly task: string;
  readonly channel: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The file's name without the extension, which depends on the file's first bytes. */
  readonly stem: string;
  readonly signal: AbortSignal;
  /** Called before any byte is stored, so that every stored file has a record. */
  readonly onName: (name: string) => Promise<void>;
}

export type CopiedFile = Pick<StoredMedia, 'name' | 'sha256'>;

const tooLong = 'the copy took too long';

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
    await copy.onName(name);
    const hash = createHash('sha256');
    const whole = hashed(followedBy(head, source, media.bytes), hash);
    const written = deps.storage.write(`${task}/${name}`, whole, { mediaType: mediaTypeOf(name) ?? '' });
    // Storage that hangs must not delay the task. The write continues in the background and may be repeated. Data that
    // has already arrived is still read, so the write may even start after the deadline.
    await inTime(signal, written, () => new CopyError(tooLong));
    return { name, sha256: hash.digest('hex') };
  } catch (error) {
    throw hasOpened && signal.aborted ? new CopyError(tooLong, { cause: error }) : error;
  } finally {
    await source.return?.();
  }
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

export async function* hashed<Piece extends Uint8Array>(
  body: AsyncIterable<Piece>,
  hash: Hash,
): AsyncGenerator<Piece, void, undefined> {
  for await (const piece of body) {
    hash.update(piece);
    yield piece;
  }
}

/** Throws if the body is shorter than announced, because a truncated file must not be stored. */
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
  if (error instanceof NotStoredError) return new CopyError(error.detail ?? error.message, { cause: error });
  return new CopyError(error instanceof Error ? error.message : 'unknown', { cause: error });
}
