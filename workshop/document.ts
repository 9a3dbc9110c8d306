import { createDocument } from '../src/http/openapi.ts';
import { createRoutes } from '../src/http/routes/index.ts';
import { vendorImageFields } from '../src/providers/index.ts';
import type { RouteDeps } from '../src/http/deps.ts';

export const optionalParts = {
  operatorAuth: {},
  images: { limits: {}, workspaces: {}, vendorFields: vendorImageFields },
  keptResults: {},
  storedFiles: { files: {} },
};

export function documentText(): string {
  return `${JSON.stringify(createDocument(declaredRoutes(optionalParts)), null, 1)}\n`;
}

export function declaredRoutes(parts: Partial<typeof optionalParts>) {
  const deps: unknown = { now: Date.now, ...parts };
  return createRoutes(asDeps(deps));
}

function asDeps(deps: unknown): RouteDeps {
  if (!isDeps(deps)) throw new TypeError('the routes cannot be declared');
  return deps;
}

function isDeps(deps: unknown): deps is RouteDeps {
  return typeof deps === 'object' && deps !== null;
}
