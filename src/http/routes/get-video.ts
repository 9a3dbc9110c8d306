import { queryTask, type QueryTaskDeps } from '../videos/query-task.ts';
import type { Route } from '../route.ts';

export function getVideo(deps: QueryTaskDeps): Route {
  return queryTask(
    {
      operationId: 'getVideo',
      summary: 'Query a video generation task',
      tag: 'Videos',
      paths: ['/v1/videos/generations/{:task_id}', '/v1/video/generations/{:task_id}'],
      kind: 'video',
    },
    deps,
  );
}
