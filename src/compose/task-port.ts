import { createActIds } from '../access/act-ids.ts';
import { recordedAct } from '../commands/act-on-task.ts';
import type { TaskPort } from '../commands/task-port.ts';
import { isUnfinished } from '../task/state.ts';
import { createTaskClient } from '../temporal/task-client.ts';
import type { Core } from './core.ts';

export function openTaskPort({ client, environment, secrets, stores, now, endStay }: Core): TaskPort {
  return createTaskClient({
    client,
    queuePrefix: environment.TASK_QUEUE_PREFIX,
    now,
    newActId: createActIds(secrets.deriveKey('act-ids')).newId,
    findAct: async (task, updateId) => recordedAct(await stores.tasks.find(task), updateId),
    async isUnfinished(task) {
      const found = await stores.tasks.confirm(task);
      return found !== undefined && isUnfinished(found.state);
    },
    endStay,
  });
}
