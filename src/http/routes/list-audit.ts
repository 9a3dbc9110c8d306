import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { auditEntrySchema, presentAuditEntry } from '../presenters/audit-entry.ts';
import { queryNumber } from '../query-fields.ts';
import { pageSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const query = z.object({
  limit: pageSize,
  after: z.string().optional().meta({ description: 'The id of the last entry of the previous page.' }),
  since: queryNumber(z.int().min(0).optional()).meta({ description: 'Unix seconds.' }),
  by: z.string().optional(),
  task: z.string().optional(),
  target: z.string().optional().meta({ description: 'An account, a key, a channel or an operator.' }),
});

export function listAudit({ audit }: Pick<RouteDeps, 'audit'>): Route {
  return adminRoute({
    operationId: 'listAudit',
    access: 'read',
    summary: 'List what operators did, newest first',
    description:
      'Lists the actions on tasks, whatever their source, and every change made through this API: accounts, credits, keys, channels, circuits, operators, the configuration. Rejected actions are included. Reads and dry runs are not.',
    method: 'get',
    paths: ['/admin/v1/audit'],
    input: z.object({ query }),
    success: { description: 'One page.', schema: pageSchema(auditEntrySchema) },
    async handle({ query: { limit, after, since, ...asked } }) {
      const filter = defined({ ...asked, since: since === undefined ? undefined : since * 1000 });
      const { entries, hasMore } = await audit.list(filter, { limit, ...defined({ after }) });
      return jsonReply({ object: 'list', data: entries.map(presentAuditEntry), has_more: hasMore });
    },
  });
}
