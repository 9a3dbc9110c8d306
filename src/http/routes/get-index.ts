import type { RouteDeps } from '../deps.ts';
import { pageOperation, pagePolicy, pageReply } from '../pages/page-reply.ts';
import type { PageFiles } from '../pages/page-files.ts';
import { jsonReply, openRoute, type Route } from '../route.ts';

const vary = { vary: 'accept, accept-encoding' };

export function getIndex({ operatorAuth }: Pick<RouteDeps, 'operatorAuth'>, files: PageFiles): Route {
  const policy = pagePolicy();
  const index = {
    object: 'index',
    name: 'Mediary',
    documentation: '/docs',
    openapi: '/openapi.json',
    models: '/v1/models',
    account: '/account',
    ...(operatorAuth === undefined ? {} : { console: '/console' }),
  } as const;
  return openRoute({
    ...pageOperation,
    operationId: 'getIndex',
    summary: 'Show the entry page',
    description: 'Returns a page to clients that accept `text/html`, and JSON to all others.',
    paths: ['/'],
    success: {
      description: 'The URLs of the API, its documentation and its pages.',
      mediaType: ['application/json', 'text/html'],
    },
    handle({ meta }) {
      if (meta.header('accept')?.includes('text/html') !== true) return jsonReply(index, vary);
      const name = operatorAuth === undefined ? 'docs/welcome-without-console.html' : 'docs/welcome.html';
      const page = pageReply(files.find(name), { meta, policy });
      return { ...page, headers: { ...page.headers, ...vary } };
    },
  });
}
