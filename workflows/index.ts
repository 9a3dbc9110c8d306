/** Everything that the `tasks` worker runs; bundled from here. */
export { generationTask } from './generation-task.ts';
export { reconcileTasks, redeliverCallback } from './maintenance.ts';
