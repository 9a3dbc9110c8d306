import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { WriteStream } from 'node:fs';
import formidable, { errors as uploadErrors } from 'formidable';
import type { File as FormFile } from 'formidable';
import type { Context } from 'koa';
import { GatewayError } from '../../domain/errors.ts';
import type { ImageWorkspace, ImageWorkspaces } from '../../images/workspace.ts';
import { jsonBody } from '../body.ts';
import type { BodyReader } from '../route.ts';

/** A file of a form, as it came; nobody has looked into it yet. */
export class UploadedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;

  constructor(path: string, name: string, bytes: number) {
    this.path = path;
    this.name = name;
    this.bytes = bytes;
  }
}

export interface ImageBodyLimits {
  readonly bodyBytesMax: number;
  readonly filesMax: number;
}

const fieldsMax = 100;
/** A text field that some clients send with a media type arrives as a file. */
const textFileBytesMax = 64 * 1024;

/**
 * JSON, or a form whose files go to a workspace that lives as long as the request. Fields that are null count as
 * absent, as official clients send them.
 */
export function imageBody(workspaces: ImageWorkspaces, limits: ImageBodyLimits): BodyReader {
  const json = jsonBody(limits.bodyBytesMax);
  const opened = new WeakMap<object, ImageWorkspace>();
  return {
    mediaTypes: ['application/json', 'multipart/form-data'],
    async read(context) {
      if (typeof context.is('multipart/form-data') !== 'string')
        return withoutNulls(await json.read(context));
      const workspace = workspaces.open();
      try {
        const body = await readForm(context, workspace, limits);
        opened.set(body, workspace);
        return body;
      } catch (error) {
        await workspace.dispose();
        throw error;
      }
    },
    async release(body) {
      if (typeof body === 'object' && body !== null) await opened.get(body)?.dispose();
    },
  };
}

function withoutNulls(body: unknown): object {
  const entries = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

async function readForm(
  { req }: Context,
  workspace: ImageWorkspace,
  limits: ImageBodyLimits,
): Promise<Record<string, unknown>> {
  const { bodyBytesMax, filesMax } = limits;
  if (Number(req.headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  const nextPath = await workspace.prepare();
  const streams = new Map<object, WriteStream>();
  const form = formidable({
    maxFields: fieldsMax,
    maxFieldsSize: bodyBytesMax,
    maxFiles: filesMax,
    maxFileSize: bodyBytesMax,
    maxTotalFileSize: bodyBytesMax,
    // Whether an empty file is an image is said where the others are looked at.
    allowEmptyFiles: true,
    minFileSize: 0,
    // The parser leaves the file at which it fails open: all are ours to close.
    fileWriteStreamHandler: (file) => {
      const stream = createWriteStream(nextPath());
      streams.set(file ?? stream, stream);
      return stream;
    },
  });
  // The parser reports a file when it is written, a small one before a large one: the order is that of the beginnings.
  const parts: { name: string; content: string | FormFile }[] = [];
  form.on('field', (name, text) => parts.push({ name, content: text }));
  form.on('fileBegin', (name, file) => parts.push({ name, content: file }));
  // Headers of parts count towards no limit of the parser.
  form.on('progress', (received: number) => {
    if (received > bodyBytesMax) throw tooLarge(bodyBytesMax);
  });
  try {
    await form.parse(req);
    const values = new Map<string, (string | UploadedFile)[]>();
    for (const { name, content } of parts) {
      const key = /^image\[\d*\]$/.test(name) ? 'image' : name;
      const value =
        typeof content === 'string'
          ? content
          : await uploadOf(content, String(streams.get(content)?.path ?? ''));
      values.set(key, [...(values.get(key) ?? []), value]);
    }
    return Object.fromEntries([...values].map(([name, items]) => [name, fieldValue(name, items)]));
  } catch (error) {
    for (const stream of streams.values()) stream.destroy();
    throw formError(error, limits);
  }
}

async function uploadOf(file: FormFile, path: string): Promise<string | UploadedFile> {
  const isText = file.originalFilename === null && file.size <= textFileBytesMax;
  return isText
    ? await readFile(path, 'utf8')
    : new UploadedFile(path, file.originalFilename ?? 'image', file.size);
}

/** What a form can only say as text. */
const numbers = new Set(['n', 'seed', 'output_compression', 'partial_images', 'guidance_scale']);
const flags = new Set(['watermark', 'stream']);

function fieldValue(name: string, items: readonly (string | UploadedFile)[]): unknown {
  const [first] = items;
  if (name === 'image') return items.length === 1 ? first : items;
  if (typeof first !== 'string') return first;
  if (numbers.has(name) && /^-?\d+(\.\d+)?$/.test(first)) return Number(first);
  if (flags.has(name) && /^(true|false)$/.test(first)) return first === 'true';
  return first;
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', `The body may have at most ${bytesMax} bytes.`);
}

function formError(error: unknown, { bodyBytesMax, filesMax }: ImageBodyLimits): unknown {
  if (error instanceof GatewayError || !(error instanceof Error) || !('code' in error)) return error;
  if (error.code === uploadErrors.maxFilesExceeded) {
    return new GatewayError('request_too_large', `A form may hold at most ${filesMax} files.`, {
      param: 'image',
    });
  }
  if ('httpCode' in error && error.httpCode === 413) return tooLarge(bodyBytesMax);
  if (typeof error.code !== 'number') return error;
  return new GatewayError('invalid_parameter', 'The multipart body is cut off or malformed.', {
    detail: error.message,
  });
}
