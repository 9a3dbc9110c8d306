import { z } from 'zod';
import type { MediaUrl } from '../../domain/stored-media.ts';
import type { TaskPage } from '../../store/tasks.ts';
import { presentTask, taskSchema } from './video-task.ts';

export const taskListSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(taskSchema),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'TaskList' });

export function presentTaskList(
  { tasks, hasMore }: TaskPage,
  mediaUrl: MediaUrl,
): z.output<typeof taskListSchema> {
  return {
    object: 'list',
    data: tasks.map((task) => presentTask(task, mediaUrl)),
    first_id: tasks.at(0)?.id ?? null,
    last_id: tasks.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
