import { defined } from '../domain/defined.ts';
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import { errorTable } from '../domain/errors.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { errorSchema } from './error-response.ts';
import type { Route } from './route.ts';

type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

/** The OpenAPI 3.1 document of the declarations: every path of every route, aliases marked as such. */
export function createDocument(routes: readonly Route[]): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key: `Authorization: Bearer sk-…`.',
  });
  registry.registerComponent('securitySchemes', 'adminToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'ADMIN_TOKEN of the configuration.',
  });
  for (const route of routes) {
    route.paths.forEach((path, index) => registry.registerPath(describe(route, path, index)));
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Mediary',
      version: '1',
      description:
        'One address for video and image generation. Every code of an error body is explained in docs/errors.md.',
    },
  });
}

const schemes = { key: [{ apiKey: [] }], admin: [{ adminToken: [] }], none: [] };

function describe(route: Route, path: string, index: number): RouteConfig {
  const { params, query, body } = route.input.shape;
  const alias = index > 0;
  return {
    method: route.method,
    path: openApiPath(path),
    operationId: alias ? `${route.operationId}Alias${index > 1 ? index : ''}` : route.operationId,
    summary: alias ? `${route.summary} (alias)` : route.summary,
    ...defined({ description: route.description }),
    tags: [route.tag],
    security: schemes[route.authentication],
    request: {
      ...defined({ params }),
      ...defined({ query }),
      ...defined({ headers: route.headers }),
      ...(body === undefined || route.readBody === undefined
        ? {}
        : {
            body: {
              required: true,
              content: Object.fromEntries(route.readBody.mediaTypes.map((type) => [type, { schema: body }])),
            },
          }),
    },
    responses: { 200: describeSuccess(route), ...describeErrors(route) },
  };
}

/** `/v1/videos/generations/{:task_id}` and `…/:task_id` → `…/{task_id}` */
export function openApiPath(path: string): string {
  return path.replace(/\{?:([A-Za-z_]+)\}?/g, '{$1}');
}

function describeSuccess({ success }: Route): RouteConfig['responses'][string] {
  const { description, schema, mediaType = 'application/json' } = success;
  return {
    description,
    content: { [mediaType]: { schema: schema ?? (mediaType === 'text/plain' ? { type: 'string' } : {}) } },
  };
}

/** What every route of its kind may answer, beside what it declares. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const codes: readonly ErrorCode[] = [
    ...(route.authentication === 'none' ? [] : (['invalid_api_key'] as const)),
    ...(route.authentication === 'key' ? (['rate_limit_exceeded'] as const) : []),
    ...(route.readBody === undefined ? [] : bodyCodes),
    ...route.errors,
    'unsupported_media_type',
    'method_not_allowed',
    'internal_error',
    'service_unavailable',
  ];
  return [...new Set(codes)];
}

const bodyCodes = [
  'invalid_json',
  'missing_parameter',
  'invalid_parameter',
  'request_too_large',
  'request_timeout',
] as const;

function describeErrors(route: Route): RouteConfig['responses'] {
  const codes = errorCodesOf(route);
  const statusOf = (code: ErrorCode): number => route.statuses?.[code] ?? errorTable[code].status;
  const statuses = [...new Set(codes.map(statusOf))];
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: codes
          .filter((code) => statusOf(code) === status)
          .map((code) => `\`${code}\``)
          .join(', '),
        content: { 'application/json': { schema: errorSchema } },
      },
    ]),
  );
}
