import type { RouteDeps } from '../deps.ts';
import { pagePolicy } from '../pages/page-reply.ts';
import { pageRoute } from '../pages/page-route.ts';
import type { PageFiles } from '../pages/page-files.ts';
import type { Route } from '../route.ts';

/** Pictures that come as data, and previews of files. */
const concessions = { images: 'data:' };

export function getAccountPage({ publicUrl }: Pick<RouteDeps, 'publicUrl'>, files: PageFiles): Route {
  return pageRoute(
    {
      operationId: 'getAccountPage',
      summary: 'Open the page for owners of API keys',
      description: 'A page for a browser. It asks for an API key and uses this API with it.',
      path: '/account',
      name: 'account/index.html',
      policy: pagePolicy(publicUrl === undefined ? undefined : new URL(publicUrl).origin, concessions),
    },
    files,
  );
}
