import type { RouteDeps } from '../deps.ts';
import type { PageFiles } from '../pages/page-files.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import { openRoute, type Route } from '../route.ts';

const concessions = { images: 'data:' };

export function getAccountPage({ publicUrl }: Pick<RouteDeps, 'publicUrl'>, files: PageFiles): Route {
  const policy = pagePolicy(publicUrl, concessions);
  return openRoute({
    ...pageOperation,
    operationId: 'getAccountPage',
    summary: 'Open the page for API key holders',
    description: 'A web page that asks for an API key and uses this API with it.',
    paths: ['/account'],
    handle: ({ meta }) => pageReply(files.find('account/index.html'), { meta, policy }),
  });
}
