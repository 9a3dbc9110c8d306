import type { PageFiles } from '../pages/page-files.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import { openRoute } from '../route.ts';
import type { Route } from '../route.ts';

/**
 * Swagger UI has pictures in its style sheet, and sets markup as text: through DOMPurify, and then through the one policy
 * that src/pages/docs/main.js makes, which lets plain tags pass.
 */
const policy = pagePolicy(undefined, { images: 'data:', trustedTypes: 'dompurify default' });

export function getDocs(files: PageFiles): Route {
  return openRoute({
    ...pageOperation,
    operationId: 'getDocs',
    summary: 'Read and try this document in a browser',
    paths: ['/docs'],
    handle: ({ meta }) => pageReply(files, 'docs/index.html', { meta, policy }),
  });
}
