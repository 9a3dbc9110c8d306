import { z } from 'zod';
import { statusMessages } from '../../task/task.ts';
import type { TaskKind } from '../../base/task-kind.ts';
import type { CreatedTask } from '../../commands/create-task.ts';
import { presentWarnings } from './image.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const createdTaskSchema = z
  .object({
    id: z.string(),
    task_id: z.string(),
    object: z.enum(['video.generation.task', 'image.generation.task']),
    status: z.literal('submitted').meta({
      description:
        'Always `submitted`: the gateway has accepted the task. GET and list return `pending` until an upstream has accepted it as well.',
    }),
    message: z.string(),
    model: z.string(),
    created_at: unixSeconds(),
    warnings: z.array(z.string()).optional().meta({
      description:
        'The ignored fields, each with the field that overrides it, if any. Also contains a sentence for each video whose length affects the price but could not be read.',
    }),
  })
  .meta({ id: 'CreatedTask' });

export function presentCreatedTask(
  task: CreatedTask,
  kind: TaskKind,
  warnings: readonly string[],
): z.output<typeof createdTaskSchema> {
  return {
    id: task.id,
    task_id: task.id,
    object: `${kind}.generation.task`,
    status: 'submitted',
    message: statusMessages.submitted,
    model: task.model,
    created_at: toSeconds(task.createdAt),
    ...presentWarnings(warnings),
  };
}
