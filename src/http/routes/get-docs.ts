import { once } from '../../base/once.ts';
import type { RouteDeps } from '../deps.ts';
import type { PageFiles } from '../pages/page-files.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import type { OpenApiDocument } from '../openapi-schemas.ts';
import { writeReference } from '../reference/reference.ts';
import { openRoute, type Route } from '../route.ts';

/** Used in examples if the gateway does not know its own URL. The page's script corrects it. */
const unknownOrigin = 'http://127.0.0.1:8080';

export function getDocs(
  { publicUrl = unknownOrigin }: Pick<RouteDeps, 'publicUrl'>,
  files: PageFiles,
  document: () => OpenApiDocument,
): Route {
  const policy = pagePolicy();
  const page = once(async () => {
    const reference = await writeReference(document(), publicUrl);
    return files.fill('docs/index.html', { ...reference, origin: publicUrl });
  });
  return openRoute({
    ...pageOperation,
    operationId: 'getDocs',
    summary: 'Read and try this document in a browser',
    paths: ['/docs'],
    prepare: () => void page().catch(() => undefined),
    handle: async ({ meta }) => pageReply(await page(), { meta, policy }),
  });
}
