import { z } from 'zod';
import { openRoute } from '../route.ts';
import type { Route } from '../route.ts';

/** What a browser asks before a page of another origin reads a part of a file, or asks whether it has changed. */
export function preflightMedia(): Route {
  return openRoute({
    operationId: 'preflightMedia',
    summary: 'Ask whether a page may read a result',
    description:
      'The preflight of CORS: pages of any origin may, with `range`, `if-range` and `if-none-match`. It says nothing about whether there is such a file.',
    tag: 'Videos',
    method: 'options',
    paths: ['/media/:task_id/:name'],
    input: z.object({ params: z.object({ task_id: z.string(), name: z.string() }) }),
    success: { status: 204, description: 'Any origin may.', mediaType: 'none' },
    handle: () => ({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': 'range, if-range, if-none-match',
        'access-control-max-age': '86400',
      },
      mediaType: '',
    }),
  });
}
