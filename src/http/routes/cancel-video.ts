import type { Route } from '../route.ts';
import { cancelRoute, type CancelDeps } from '../videos/cancel-route.ts';

export function cancelVideo(deps: CancelDeps): Route {
  return cancelRoute(
    {
      operationId: 'cancelVideo',
      summary: 'Cancel a video generation task',
      tag: 'Videos',
      paths: ['/v1/videos/generations/:task_id/cancel', '/v1/video/generations/:task_id/cancel'],
      kind: 'video',
    },
    deps,
  );
}
