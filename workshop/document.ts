import { createDocument } from '../src/http/openapi.ts';
import { createRoutes } from '../src/http/routes/index.ts';
import { vendorImageFields } from '../src/providers/index.ts';
import type { RouteDeps } from '../src/http/deps.ts';

/** The OpenAPI document of every route, the optional ones included, as JSON. No handler runs. */
export function documentText(): string {
  const everything: Partial<RouteDeps> = { now: Date.now };
  const optional = {
    operatorAuth: {},
    images: { limits: {}, workspaces: {}, vendorFields: vendorImageFields },
    keptResults: {},
    storedFiles: { files: {} },
  };
  const deps: unknown = { ...everything, ...optional };
  return JSON.stringify(createDocument(createRoutes(asDeps(deps))), null, 2);
}

function asDeps(deps: unknown): RouteDeps {
  if (!isDeps(deps)) throw new TypeError('the routes cannot be declared');
  return deps;
}

function isDeps(deps: unknown): deps is RouteDeps {
  return typeof deps === 'object' && deps !== null;
}
