import { listTasksOf, type ListTasksDeps } from '../videos/list-account-tasks.ts';
import type { Route } from '../route.ts';

export function listVideos(deps: ListTasksDeps): Route {
  return listTasksOf(
    {
      operationId: 'listVideos',
      summary: "List the account's video tasks, newest first",
      tag: 'Videos',
      paths: ['/v1/videos/generations', '/v1/video/generations'],
      kind: 'video',
    },
    deps,
  );
}
