import type { Route } from '../route.ts';
import { taskReceipt, type ReceiptDeps } from '../videos/task-receipt.ts';

export function getImageReceipt(deps: ReceiptDeps): Route {
  return taskReceipt(
    {
      operationId: 'getImageReceipt',
      summary: 'Get the signed receipt of an image generation task, or of synchronous images',
      tag: 'Images',
      paths: ['/v1/images/generations/:task_id/receipt'],
      kind: 'image',
    },
    deps,
  );
}
