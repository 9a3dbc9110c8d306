import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { noticeSchema, presentNotice } from '../presenters/notice.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function listNotices({ notices }: Pick<RouteDeps, 'notices'>): Route {
  return adminRoute({
    operationId: 'listNotices',
    access: 'read',
    summary: 'List notices for operators',
    description:
      'Lists current and past conditions that need an operator: at most 200, the most recently changed first.',
    method: 'get',
    paths: ['/admin/v1/notices'],
    input: z.object({ query: z.object({ state: z.enum(['open', 'over']).default('open') }) }),
    success: {
      description: 'The notices, whether or not any targets are configured.',
      schema: listSchema(noticeSchema),
    },
    async handle({ query }) {
      const found = await notices.list(query.state, 200);
      return jsonReply({ object: 'list', data: found.map(({ notice }) => presentNotice(notice)) });
    },
  });
}
