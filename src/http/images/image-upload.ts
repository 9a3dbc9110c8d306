import { isRecord } from '../../base/is-record.ts';
import type { Context } from 'koa';
import type { ImageWorkspace, ImageWorkspaces } from '../../images/workspace.ts';
import { checkJsonType, hasBody, JsonText } from '../body.ts';
import type { ImageLimits } from '../deps.ts';
import { consumeBody, type BodyReader, type BodyScope } from '../bodies/consume-body.ts';
import { readForm } from './image-form.ts';
import { MediaSplitter } from './media-splitter.ts';
import { openSpool } from './spool.ts';

type ImageBodyLimits = Pick<ImageLimits, 'bodyBytesMax' | 'filesMax'>;

/**
 * To save memory, long data URLs and files are written to a workspace that lasts as long as the request. Official
 * clients send null for missing fields, so null fields are treated as missing.
 */
export function imageBody(workspaces: ImageWorkspaces, limits: ImageBodyLimits): BodyReader {
  const opened = new WeakMap<object, ImageWorkspace>();
  return {
    mediaTypes,
    kind: 'images',
    async read(context, scope) {
      if (!hasBody(context)) return {};
      const isForm = typeof context.is('multipart/form-data') === 'string';
      if (!isForm) checkJsonType(context, mediaTypes);
      const workspace = workspaces.open();
      const reading = { scope, workspace, limits };
      try {
        const body = await (isForm ? readForm(context, reading) : readJson(context, reading));
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

const mediaTypes = ['application/json', 'multipart/form-data'];

export interface Reading {
  readonly scope: BodyScope;
  readonly workspace: ImageWorkspace;
  readonly limits: ImageBodyLimits;
}

/** The limit for the JSON without long data URLs. */
const textBytesMax = 1024 * 1024;

async function readJson({ req }: Context, { scope, workspace, limits }: Reading): Promise<object> {
  const spool = openSpool(workspace, { filesMax: limits.filesMax, disk: scope.disk });
  const text = new JsonText(textBytesMax, scope.memory);
  const splitter = new MediaSplitter({ spool, onRest: (piece) => text.push(piece) });
  try {
    await consumeBody(req, {
      ...scope,
      bytesMax: limits.bodyBytesMax,
      onChunk: (chunk) => {
        splitter.push(chunk);
        return spool.isFull ? spool.flush() : undefined;
      },
    });
    await spool.flush();
  } finally {
    await spool.close();
  }
  const fields = Object.entries(text.parse(splitter.isWhole));
  return Object.fromEntries(fields.map(([name, value]) => [name, withFiles(value, splitter)]));
}

/** Recursion is safe here, because the scanner limits the nesting. */
function withFiles(value: unknown, splitter: MediaSplitter): unknown {
  if (splitter.isWhole) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withFiles(item, splitter));
  if (!isRecord(value)) return splitter.fileOf(value) ?? value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withFiles(item, splitter)]));
}
