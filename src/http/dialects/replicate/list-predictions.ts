import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { pageOfTasks } from '../../videos/list-account-tasks.ts';
import { predictionSchema, presentPrediction } from './prediction.ts';
import { replicateDialect } from './replicate-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const pageSize = 100;

export function listPredictions({ tasks, requests, mediaUrl, publicUrl }: DialectDeps): Route {
  return keyRoute({
    operationId: 'listPredictions',
    scope: 'read_own',
    summary: "List the account's predictions, newest first",
    dialect: replicateDialect,
    method: 'get',
    paths: ['/v1/predictions'],
    input: z.object({
      query: z.object({ cursor: z.string().optional().meta({ description: 'The cursor from `next`.' }) }),
    }),
    success: {
      description: `A page of ${pageSize}.`,
      schema: z.object({
        previous: z.null(),
        next: z.string().nullable(),
        results: z.array(predictionSchema),
      }),
    },
    async handle({ query: { cursor: after }, reach }) {
      const page = await pageOfTasks(reach, { limit: pageSize, ...defined({ after }) }, tasks);
      const asked = new Map<string, GenerationRequest>();
      for await (const { task, request } of requests.each(page.tasks.map(({ id }) => id)))
        asked.set(task, request);
      const results = page.tasks.map((task) =>
        presentPrediction(task, { request: asked.get(task.id), mediaUrl, publicUrl }),
      );
      const last = page.hasMore ? results.at(-1)?.id : undefined;
      // The client appends this path to its own base URL, which ends in /v1.
      const base = publicUrl === undefined ? '' : `${publicUrl}/v1`;
      const next = last === undefined ? null : `${base}/predictions?cursor=${last}`;
      return jsonReply({ previous: null, next, results });
    },
  });
}
