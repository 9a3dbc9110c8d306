import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function tryCredential({
  drafts,
  tryCredential: ask,
}: Pick<RouteDeps, 'drafts' | 'tryCredential'>): Route {
  return adminRoute({
    operationId: 'tryCredential',
    access: 'configuration',
    summary: 'Try a credential of the draft at its upstream',
    description:
      'Makes one request to the upstream that costs nothing: it lists models, shows the balance, or asks for a job that does not exist. The draft must have no errors.',
    method: 'post',
    paths: ['/admin/v1/config/draft/credentials/try'],
    input: z.object({ body: z.object({ channel: z.string(), credential: z.string() }) }),
    success: {
      description: 'Whether the upstream accepts the credential.',
      schema: z.object({
        object: z.literal('config.credential'),
        verdict: z.enum(['accepted', 'refused', 'unclear', 'untested']).meta({
          description:
            '`untested` means that the adapter knows no free request that would test a key of this vendor.',
        }),
        words: z.string(),
      }),
    },
    errors: ['channel_not_found'],
    async handle({ body: { channel, credential } }) {
      const answer = await ask(await drafts.config(), channel, credential);
      return jsonReply({ object: 'config.credential', ...answer });
    },
  });
}
