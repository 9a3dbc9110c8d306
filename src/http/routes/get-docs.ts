import type { RouteDeps } from '../deps.ts';
import type { PageFile, PageFiles } from '../pages/page-files.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import type { OpenApiDocument } from '../openapi-schemas.ts';
import { writeReference } from '../reference/reference.ts';
import { openRoute } from '../route.ts';
import type { Route } from '../route.ts';

/** The origin in examples if the gateway does not know its own address. The page's script corrects it. */
const unknownOrigin = 'http://127.0.0.1:8080';

/** The page is written once. `document` returns the document that it shows. */
export function getDocs(
  { publicUrl = unknownOrigin }: Pick<RouteDeps, 'publicUrl'>,
  files: PageFiles,
  document: () => OpenApiDocument,
): Route {
  const policy = pagePolicy();
  let written: PageFile | undefined;
  const page = () =>
    (written ??= files.fill('docs/index.html', {
      ...writeReference(document(), publicUrl),
      origin: publicUrl,
    }));
  return openRoute({
    ...pageOperation,
    operationId: 'getDocs',
    summary: 'Read and try this document in a browser',
    paths: ['/docs'],
    prepare: page,
    handle: ({ meta }) => pageReply(page(), { meta, policy }),
  });
}
