import { z } from 'zod';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

export function listKeys({ keys }: Pick<RouteDeps, 'keys'>): Route {
  return adminRoute({
    operationId: 'listKeys',
    summary: 'List API keys, newest first',
    tag: 'Operators',
    method: 'get',
    paths: ['/admin/v1/keys'],
    input: z.object({ query: z.object({ limit: pageSize, account: z.string().optional() }) }),
    success: {
      description: 'Revoked and expired ones too; never the keys themselves.',
      schema: z.object({ object: z.literal('list'), data: z.array(keySchema) }),
    },
    errors: [],
    async handle({ query: { limit, account } }) {
      const found = await keys.list(account === undefined ? {} : { account }, { limit });
      return jsonReply({ object: 'list', data: found.map(presentKey) });
    },
  });
}
