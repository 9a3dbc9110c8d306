import { z } from 'zod';
import type { MediaUrl } from '../../domain/stored-media.ts';
import type { TaskPage } from '../../store/tasks.ts';
import { presentTask, taskSchemas } from './video-task.ts';
import type { PresentedTask } from './video-task.ts';

const page = z.object({
  object: z.literal('list'),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

/** A page of tasks, by their kind. */
export const taskListSchemas = {
  video: page.extend({ data: z.array(taskSchemas.video) }).meta({ id: 'VideoTaskList' }),
  image: page.extend({ data: z.array(taskSchemas.image) }).meta({ id: 'ImageTaskList' }),
} as const;

type PresentedTaskList = z.output<typeof page> & { readonly data: readonly PresentedTask[] };

export function presentTaskList({ tasks, hasMore }: TaskPage, mediaUrl: MediaUrl): PresentedTaskList {
  return {
    object: 'list',
    data: tasks.map((task) => presentTask(task, mediaUrl)),
    first_id: tasks.at(0)?.id ?? null,
    last_id: tasks.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
