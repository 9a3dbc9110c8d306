import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const targetSchema = z.object({
  id: z.string(),
  ok: z.boolean(),
  error: z.string().nullable().meta({ description: 'Why the target rejected the message.' }),
});

export function testNotices({ testNotices: test }: Pick<RouteDeps, 'testNotices'>): Route {
  return adminRoute({
    operationId: 'testNotices',
    access: 'configuration',
    summary: 'Send a test message to every notice target',
    method: 'post',
    paths: ['/admin/v1/notices/test'],
    input: z.object({}),
    success: {
      description: 'The outcome for each target of `notify` in gateway.yaml.',
      schema: listSchema(targetSchema),
    },
    async handle() {
      const sent = await test();
      const data = sent.map(({ id, error }) => ({ id, ok: error === undefined, error: error ?? null }));
      return jsonReply({ object: 'list', data });
    },
  });
}
