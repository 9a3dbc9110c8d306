import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import { queryNumber } from '../../query-fields.ts';
import { ownPageSchema, presentOwnPage } from '../../presenters/list.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { pageOfTasks } from '../../videos/list-account-tasks.ts';
import { openaiDialect } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openaiVideoSchema, presentOpenaiVideo } from './openai-video.ts';

const query = z.object({
  limit: queryNumber(z.int().min(1).max(100).default(20)),
  after: z.string().optional().meta({ description: 'The last id of the previous page.' }),
  order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'The sort order, by creation time.' }),
});

export function listOpenaiVideos({ tasks, requests, mediaUrl }: DialectDeps): Route {
  return keyRoute({
    operationId: 'listOpenaiVideos',
    scope: 'read_own',
    summary: "List the account's videos",
    dialect: openaiDialect,
    method: 'get',
    paths: ['/v1/videos'],
    input: z.object({ query }),
    success: { description: 'One page.', schema: ownPageSchema(openaiVideoSchema) },
    async handle({ query: { limit, after, order }, reach }) {
      const filter = { kind: 'video', ...reach } as const;
      const page = { limit, oldestFirst: order === 'asc', ...defined({ after }) };
      const { tasks: found, hasMore } = await pageOfTasks(filter, page, tasks);
      const asked = new Map<string, GenerationRequest>();
      for await (const { task, request } of requests.each(found.map(({ id }) => id)))
        asked.set(task, request);
      const data = found.map((task) => presentOpenaiVideo(task, { request: asked.get(task.id), mediaUrl }));
      return jsonReply(presentOwnPage(data, hasMore));
    },
  });
}
