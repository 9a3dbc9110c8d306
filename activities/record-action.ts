import type { TaskActivityDeps } from './deps.ts';
import type { TaskActivities } from './types.ts';

type ActionActivities = Pick<TaskActivities, 'recordAction' | 'moveDeadline' | 'wakeTask'>;

/** What an operator's action changes outside of the workflow. */
export function createActionActivities({ tasks, workflows, log }: TaskActivityDeps): ActionActivities {
  return {
    async recordAction(task, record) {
      const { by, action, reason, detail } = record;
      log.info({ task, action, actor: by, reason, detail }, 'an operator acted on a task');
      await tasks.recordAction(task, record);
    },
    moveDeadline: (task, deadlineAt) => tasks.moveDeadline(task, deadlineAt),
    wakeTask: (task, activity) => workflows.wake(task, activity),
  };
}
