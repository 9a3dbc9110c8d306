import { pagePolicy } from '../pages/page-reply.ts';
import { pageRoute } from '../pages/page-route.ts';
import type { PageFiles } from '../pages/page-files.ts';
import type { Route } from '../route.ts';

/**
 * Swagger UI has pictures in its style sheet, and sets markup as text: through DOMPurify, and then through the one policy
 * that src/pages/docs/main.js makes, which lets plain tags pass.
 */
const policy = pagePolicy('', { images: 'data:', trustedTypes: 'dompurify default' });

export function getDocs(files: PageFiles): Route {
  const about = { operationId: 'getDocs', summary: 'Read and try this document in a browser' };
  return pageRoute({ ...about, path: '/docs', name: 'docs/index.html', policy }, files);
}
