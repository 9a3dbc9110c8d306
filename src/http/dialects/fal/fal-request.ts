import { z } from 'zod';
import type { Task } from '../../../task/record.ts';
import type { TaskStatus } from '../../../task/task.ts';
import { presentWarnings } from '../../presenters/image.ts';

/** Source: the official client (@fal-ai/client 1.10.1, `types/common.d.ts`). */
export const falRequestSchema = z
  .object({
    status: z.enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']).meta({
      description: '`COMPLETED` means that the request has ended. The result shows whether it succeeded.',
    }),
    request_id: z.string(),
    response_url: z.string(),
    status_url: z.string(),
    cancel_url: z.string(),
    queue_position: z.literal(0).optional(),
    logs: z.array(z.object({ message: z.string() })).max(0),
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'FalRequest' });

/** The first two path segments of a model's URL. The URLs of its requests start with the same segments. */
export const falModelParams = z.object({
  owner: z.string().min(1).meta({ description: 'Can be any text if the model name has no slash.' }),
  name: z.string().min(1),
});
export type FalModel = z.output<typeof falModelParams>;
export const falRequestParams = falModelParams.extend({ task_id: z.string().min(1) });

const words = {
  pending: 'IN_QUEUE',
  submitted: 'IN_QUEUE',
  running: 'IN_PROGRESS',
  succeeded: 'COMPLETED',
  failed: 'COMPLETED',
} as const satisfies Record<TaskStatus, z.output<typeof falRequestSchema>['status']>;

export interface FalFacts extends FalModel {
  readonly publicUrl: string | undefined;
  readonly warnings?: readonly string[];
}

export function presentFalRequest(
  { id, status: ours }: Pick<Task, 'id' | 'status'>,
  { owner, name, publicUrl = '', warnings = [] }: FalFacts,
): z.output<typeof falRequestSchema> {
  const self = `${publicUrl}/fal/${owner}/${name}/requests/${id}`;
  const status = words[ours];
  return {
    status,
    request_id: id,
    response_url: self,
    status_url: `${self}/status`,
    cancel_url: `${self}/cancel`,
    // The actual position is unknown.
    ...(status === 'IN_QUEUE' ? { queue_position: 0 } : {}),
    logs: [],
    ...presentWarnings(warnings),
  };
}
