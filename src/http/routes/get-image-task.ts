import { queryTask, type QueryTaskDeps } from '../videos/query-task.ts';
import type { Route } from '../route.ts';

export function getImageTask(deps: QueryTaskDeps): Route {
  return queryTask(
    {
      operationId: 'getImageTask',
      summary: 'Query an image generation task',
      tag: 'Images',
      paths: ['/v1/images/generations/{:task_id}'],
      kind: 'image',
    },
    deps,
  );
}
