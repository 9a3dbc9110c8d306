import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { findCursor } from '../find-cursor.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { pageSchema, presentPage } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const query = z.object({
  limit: pageSize,
  after: z.string().optional().meta({ description: 'The id of the last key of the previous page.' }),
  account: z.string().optional(),
});

export function listKeys({ keys }: Pick<RouteDeps, 'keys'>): Route {
  return adminRoute({
    operationId: 'listKeys',
    access: 'read',
    summary: 'List API keys, newest first',
    method: 'get',
    paths: ['/admin/v1/keys'],
    input: z.object({ query }),
    success: {
      description: 'Includes revoked and expired keys, but never the secret keys themselves.',
      schema: pageSchema(keySchema),
    },
    async handle({ query: { limit, after: id, ...filter } }) {
      const after = await findCursor(id, 'a key', (key) => keys.find(key));
      const found = await keys.list(defined(filter), { limit: limit + 1, ...defined({ after }) });
      return jsonReply(presentPage(found, limit, presentKey));
    },
  });
}
