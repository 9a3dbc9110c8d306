import { GatewayError } from '../../errors/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { PageFiles } from '../pages/page-files.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import { openRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'operatorAuth' | 'publicUrl'>;

export function getConsole({ operatorAuth, publicUrl }: Deps, files: PageFiles): Route {
  const policy = pagePolicy(publicUrl);
  return openRoute({
    ...pageOperation,
    operationId: 'getConsole',
    summary: 'Open the console for operators',
    description:
      'A web page that asks for an operator’s token and uses the operators’ API with it. The page is not available until ADMIN_TOKEN is set.',
    paths: ['/console'],
    errors: ['route_not_found'],
    handle({ meta }) {
      if (operatorAuth === undefined) {
        throw new GatewayError(
          'route_not_found',
          'The console is off because this gateway has no operators. Set ADMIN_TOKEN, and restart the gateway.',
        );
      }
      return pageReply(files.find('console/index.html'), { meta, policy });
    },
  });
}
