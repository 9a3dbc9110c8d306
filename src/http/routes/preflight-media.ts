import { z } from 'zod';
import { openRoute, type Route } from '../route.ts';

export function preflightMedia(): Route {
  return openRoute({
    operationId: 'preflightMedia',
    summary: 'Ask whether a page may read a result',
    description:
      'Answers the CORS preflight. Pages of any origin may read results, and may send `range`, `if-range` and `if-none-match`. The response does not reveal whether the file exists.',
    tag: 'Videos',
    method: 'options',
    paths: ['/media/:task_id/:name'],
    input: z.object({ params: z.object({ task_id: z.string(), name: z.string() }) }),
    success: { status: 204, description: 'Any origin is allowed.', mediaType: 'none' },
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
