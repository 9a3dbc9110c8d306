import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { mediaIdPattern } from '../../base/ids.ts';
import type { KeptResults } from '../../results/results.ts';
import { mediaTypeOf } from '../../results/media-types.ts';
import { fileAnswers, replyWithFile } from '../stored-file.ts';
import { openRoute, type Route } from '../route.ts';
import { parseInput } from '../validation.ts';

export type MediaDeps = Pick<KeptResults, 'storage' | 'links'> & { readonly now: () => number };

/** Pages from other origins may read a file, including ranges, if they have its link. */
const openToPages = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'accept-ranges, content-length, content-range, etag',
} as const;

const input = z.object({
  params: z.object({ task_id: z.string(), name: z.string() }),
  query: z.object({
    expires: z.string().default(''),
    sig: z.string().default(''),
    via: z.string().optional().meta({
      description:
        '`gateway`: the gateway itself sends the bytes, without a redirect. Links meant for upstreams use this value.',
    }),
  }),
});

export function getMedia({ storage, links, now }: MediaDeps): Route {
  return openRoute({
    operationId: 'getMedia',
    summary: 'Fetch a result from the gateway’s storage',
    description:
      'The links are in `data[]` of a finished task and work until `expires_at`. GET the task again for new ones. If the storage serves files itself, the response redirects to it. Supports range requests and `if-none-match`. Pages of any origin may fetch the links (CORS).',
    tag: 'Videos',
    method: 'get',
    paths: ['/media/:task_id/:name'],
    input,
    ...fileAnswers,
    errors: ['result_not_found'],
    isSigned(request) {
      const { params, query } = parseInput(input, request);
      return links.isValid({ ...query, task: params.task_id, name: params.name });
    },
    async handle({ params: { task_id: task, name }, query: { expires, sig, via }, meta }) {
      const mediaType = mediaTypeOf(name);
      if (mediaType === undefined || !mediaIdPattern.test(task)) throw mediaNotFound();
      if (!links.isValid({ task, name, expires, sig })) throw mediaNotFound();
      const maxAge = Math.max(0, Number(expires) - Math.floor(now() / 1000));
      const directSeconds = via === 'gateway' ? 0 : maxAge;
      const asked = { key: `${task}/${name}`, mediaType, maxAge, directSeconds };
      const reply = await replyWithFile(asked, meta, storage);
      if (reply === undefined) throw mediaNotFound();
      return { ...reply, headers: { ...reply.headers, ...openToPages } };
    },
  });
}

/** A wrong signature, an expired link and a deleted file all get the same message. */
function mediaNotFound(): GatewayError {
  return new GatewayError(
    'result_not_found',
    'There is no such file, or the link has expired. GET the task for a new link.',
  );
}
