import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { mediaIdPattern } from '../../domain/ids.ts';
import type { KeptResults } from '../../results/results.ts';
import { mediaTypeOf, storedMediaTypes } from '../../results/media-types.ts';
import type { ByteRange, StoredFile } from '../../results/storage.ts';
import { matchesEtag } from '../etag.ts';
import { notModified, openRoute } from '../route.ts';
import type { Reply, RequestMeta, Route } from '../route.ts';

export type MediaDeps = Pick<KeptResults, 'storage' | 'links'> & { readonly now: () => number };

const rangePattern = /^bytes=(\d*)-(\d*)$/;

/** Files come from upstreams: a browser may show them, and run nothing. */
const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
} as const;

export function getMedia({ storage, links, now }: MediaDeps): Route {
  return openRoute({
    operationId: 'getMedia',
    summary: 'Fetch a result from the storage of the gateway',
    description:
      'The links are in `data[]` of a finished task, and work until `expires_at`; GET the task again for a new one. Answers range requests and `if-none-match`.',
    tag: 'Videos',
    method: 'get',
    paths: ['/media/:task_id/:name'],
    input: z.object({
      params: z.object({ task_id: z.string(), name: z.string() }),
      query: z.object({ expires: z.string().default(''), sig: z.string().default('') }),
    }),
    headers: z.object({ range: z.string().optional(), 'if-none-match': z.string().optional() }),
    success: { description: 'The file.', mediaType: storedMediaTypes },
    otherAnswers: {
      206: { description: 'The part that `range` asks for.', mediaType: storedMediaTypes },
      304: { description: 'The copy of `if-none-match` is current.', mediaType: 'none' },
      416: { description: '`range` lies outside of the file.', mediaType: 'text/plain' },
    },
    errors: ['task_not_found'],
    async handle({ params: { task_id: task, name }, query: { expires, sig }, meta }) {
      const mediaType = mediaTypeOf(name);
      if (mediaType === undefined || !mediaIdPattern.test(task)) throw mediaNotFound();
      if (!links.isValid({ task, name, expires, sig })) throw mediaNotFound();
      const key = `${task}/${name}`;
      const file = await storage.stat(key);
      if (file === undefined) throw mediaNotFound();
      const maxAge = Math.max(0, Number(expires) - Math.floor(now() / 1000));
      const headers = {
        ...safetyHeaders,
        etag: file.etag,
        'accept-ranges': 'bytes',
        'cache-control': `private, max-age=${maxAge}, immutable`,
      };
      if (matchesEtag(meta.header('if-none-match'), file.etag)) return notModified(headers);
      const range = rangeOf(meta, file);
      if (range === 'unsatisfiable') return refuseRange(file, headers);
      const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
      return {
        status: range === undefined ? 200 : 206,
        mediaType,
        text: '',
        stream: await storage.read(key, { start, end }),
        headers: {
          ...headers,
          'content-length': String(end - start + 1),
          ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${file.bytes}` }),
        },
      };
    },
  });
}

/** One message for a wrong signature, an expired link and a file that is gone. */
function mediaNotFound(): GatewayError {
  return new GatewayError(
    'task_not_found',
    'There is no such file, or the link has expired. GET the task for a new link.',
  );
}

/** Undefined: all of it. Several ranges, other units and nonsense are answered with all of it, as RFC 9110 allows. */
function rangeOf(meta: RequestMeta, { bytes, etag }: StoredFile): ByteRange | 'unsatisfiable' | undefined {
  const match = rangePattern.exec(meta.header('range') ?? '');
  const condition = meta.header('if-range');
  if (match === null || (condition !== undefined && condition !== etag)) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (from !== '' && to !== '' && Number(to) < start) return undefined;
  return start > end ? 'unsatisfiable' : { start, end };
}

function refuseRange({ bytes }: StoredFile, headers: Readonly<Record<string, string>>): Reply {
  const mediaType = 'text/plain; charset=utf-8';
  return { status: 416, mediaType, text: '', headers: { ...headers, 'content-range': `bytes */${bytes}` } };
}
