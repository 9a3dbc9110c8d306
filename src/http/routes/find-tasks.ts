import { z } from 'zod';
import { taskNamings } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../presenters/ledger-entry.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'ledger' | 'mediaUrl' | 'nodes'>;

export function findTasks({ tasks, ledger, mediaUrl, nodes }: Deps): Route {
  return adminRoute({
    operationId: 'findTasks',
    access: 'read',
    summary: 'Find what an id belongs to',
    method: 'get',
    paths: ['/admin/v1/find'],
    input: z.object({
      query: z.object({
        id: z.string().min(1).max(300).meta({
          description:
            'The id of a task (which is the `webhook-id` of its callbacks), of images, of the request that created a task or of an upstream’s job, or the marker of a submission.',
        }),
      }),
    }),
    success: {
      description: 'Empty lists if nothing is known of it.',
      schema: z.object({
        object: z.literal('list'),
        data: z
          .array(z.object({ found_by: z.enum(taskNamings), task: adminTaskSchema }))
          .meta({ description: 'At most 20 by each of the namings.' }),
        ledger: z.array(ledgerEntrySchema).meta({
          description:
            'The ledger’s entries under this id: of a task, or of images that were answered at once.',
        }),
      }),
    },
    async handle({ query: { id }, roles }) {
      const [named, entries] = await Promise.all([tasks.findNamed(id), ledger.entriesOfTask(id)]);
      return jsonReply({
        object: 'list',
        data: named.map(({ by, task }) => ({
          found_by: by,
          task: presentAdminTask(task, { mediaUrl, roles, nodes }),
        })),
        ledger: entries.map(presentLedgerEntry),
      });
    },
  });
}
