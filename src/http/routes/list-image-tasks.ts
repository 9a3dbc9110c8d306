import { listTasksOf, type ListTasksDeps } from '../videos/list-account-tasks.ts';
import type { Route } from '../route.ts';

export function listImageTasks(deps: ListTasksDeps): Route {
  return listTasksOf(
    {
      operationId: 'listImageTasks',
      summary: "List the account's image tasks, newest first",
      tag: 'Images',
      paths: ['/v1/images/generations'],
      kind: 'image',
    },
    deps,
  );
}
