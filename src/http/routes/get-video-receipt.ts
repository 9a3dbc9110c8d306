import type { Route } from '../route.ts';
import { taskReceipt, type ReceiptDeps } from '../videos/task-receipt.ts';

export function getVideoReceipt(deps: ReceiptDeps): Route {
  return taskReceipt(
    {
      operationId: 'getVideoReceipt',
      summary: 'Get the signed receipt of a video',
      tag: 'Videos',
      paths: ['/v1/videos/generations/:task_id/receipt', '/v1/video/generations/:task_id/receipt'],
      kind: 'video',
    },
    deps,
  );
}
