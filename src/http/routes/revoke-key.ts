import { z } from 'zod';
import { keyNotFound, keyParams, optionalReason as reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function revokeKey({ keys, auth }: Pick<RouteDeps, 'keys' | 'auth'>): Route {
  return adminRoute({
    operationId: 'revokeKey',
    access: 'access',
    summary: 'Revoke an API key',
    description:
      'Takes effect immediately on this node and within five seconds on the others. The key’s tasks keep running.',
    method: 'delete',
    paths: ['/admin/v1/keys/:key'],
    input: z.object({ params: keyParams, query: z.object({ reason }) }),
    success: {
      description: 'The key is revoked.',
      schema: z.object({ object: z.literal('key'), id: z.string(), revoked: z.literal(true) }),
    },
    errors: ['key_not_found'],
    async handle({ params: { key }, query, operator }) {
      if (!(await keys.revoke(key, operator, query.reason))) throw keyNotFound();
      auth.forget(key);
      return jsonReply({ object: 'key', id: key, revoked: true });
    },
  });
}
