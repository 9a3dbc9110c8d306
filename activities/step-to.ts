import type { Task } from '../src/domain/task-record.ts';
import type { TaskEvent } from '../src/domain/task-state.ts';
import type { TaskStore } from '../src/store/tasks.ts';

/** The record after this event, whether it was heard or not; as it was seen where there is none any more. */
export async function stepTo(
  task: Task,
  event: TaskEvent,
  { tasks }: { readonly tasks: Pick<TaskStore, 'step'> },
): Promise<Task> {
  return (await tasks.step(task.id, event)).task ?? task;
}
