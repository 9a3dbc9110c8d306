import type { Route } from '../route.ts';
import { cancelRoute, type CancelDeps } from '../videos/cancel-route.ts';

export function cancelImageTask(deps: CancelDeps): Route {
  return cancelRoute(
    {
      operationId: 'cancelImageTask',
      summary: 'Cancel an image generation task',
      tag: 'Images',
      paths: ['/v1/images/generations/:task_id/cancel'],
      kind: 'image',
    },
    deps,
  );
}
