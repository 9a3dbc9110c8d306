import { defined } from '../base/defined.ts';
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { RouteConfig, ZodMediaTypeObject } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { errorTable, type ErrorCode } from '../errors/errors.ts';
import { errorSchema } from './error-response.ts';
import { eventStreamType } from './event-stream.ts';
import { describeBodies } from './openapi-bodies.ts';
import { openApiPath } from './openapi-schemas.ts';
import { endedTaskSchema } from './presenters/video-task.ts';
import { isProbe, type Route, type Success } from './route.ts';
import { headersTooLarge } from './unreadable.ts';

type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

export function createDocument(routes: readonly Route[]): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key: `Authorization: Bearer sk-…`. Each route lists the scope it needs. `read_account` includes `read_own`.',
  });
  registry.registerComponent('securitySchemes', 'adminToken', {
    type: 'http',
    scheme: 'bearer',
    description:
      'The configured ADMIN_TOKEN, or an operator’s own token: `Authorization: Bearer op-…`. Each route lists the role it needs.',
  });
  for (const route of routes) {
    route.paths.forEach((path, index) => registry.registerPath(describe(route, path, index)));
  }
  registry.registerWebhook({ ...taskEnded, path: 'taskEnded' });
  const events = [...new Set(routes.flatMap(({ success }) => success.event ?? []))].map(
    (schema) => ({ type: 'schema', schema }) as const,
  );
  const document = new OpenApiGeneratorV31([...registry.definitions, ...events]).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Mediary',
      version: '1',
      description:
        'One API for video and image generation. The guide “Errors” next to this document explains every error code.',
      contact: { name: 'The operator of this gateway' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that returned this document.' }],
    tags: tagsOf(routes),
  });
  describeBodies(document);
  return document;
}

function tagsOf(routes: readonly Route[]): { name: string; description: string }[] {
  const used = new Set<string | undefined>(['Callbacks', ...routes.map(({ tag }) => tag)]);
  const dialects = [...new Set(routes.flatMap(({ dialect }) => dialect ?? []))];
  const own = Object.entries(tagDescriptions)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
  const at = own.findIndex(({ name }) => lastTags.has(name));
  return own.toSpliced(at, 0, ...dialects.map(({ tag: name, description }) => ({ name, description })));
}

const lastTags: ReadonlySet<string> = new Set(['Operators', 'Service']);

const tagDescriptions: Readonly<Record<NonNullable<Route['tag']> | 'Callbacks', string>> = {
  Videos: 'Video generation tasks.',
  Images: 'Images, and image generation tasks.',
  Files: 'Media that you store once and refer to by id in later requests.',
  Models: 'The models that the key may use.',
  Account: 'The key’s account.',
  Callbacks: 'Requests that the gateway sends to a task’s `callback_url`.',
  Operators: 'For operators: accounts, keys, tasks, channels, and the operators themselves.',
  Service: 'Health, metrics, this document, and the URL that upstreams call.',
};

const taskEnded: Omit<RouteConfig, 'path'> = {
  method: 'post',
  operationId: 'taskEnded',
  summary: 'A task has succeeded or failed',
  description:
    'Sent to `metadata.callback_url` with the headers of the Standard Webhooks specification, and retried until the receiver accepts it. The body is the same as when you GET the task.',
  tags: ['Callbacks'],
  security: [],
  request: {
    headers: z.object({
      'webhook-id': z
        .string()
        .meta({ description: 'The id of the callback. It is the same for every attempt.' }),
      'webhook-timestamp': z.string().meta({ description: 'Unix seconds.' }),
      'webhook-signature': z.string().meta({
        description:
          '`v1,` followed by an HMAC-SHA256 in base64. Multiple signatures are separated by spaces.',
      }),
      traceparent: z.string().optional().meta({
        description: 'W3C trace context of the request that created the task, if the gateway records traces.',
      }),
    }),
    body: { required: true, content: { 'application/json': { schema: endedTaskSchema } } },
  },
  responses: {
    '2XX': { description: 'Delivered.' },
    '410': { description: 'The receiver does not want the callback, so it is not retried.' },
    default: { description: 'Retried later.' },
  },
};

function securityOf(route: Route): Record<string, string[]>[] {
  if (route.authentication === 'none') return [];
  if (route.authentication === 'admin') return [route.access].flat().map((role) => ({ adminToken: [role] }));
  return [{ apiKey: route.scope === 'any' ? [] : [route.scope] }];
}

function describe(route: Route, path: string, index: number): RouteConfig {
  const { params, query } = route.input.shape;
  const body = route.documentedBody ?? route.input.shape.body;
  const alias = index > 0;
  return {
    method: route.method,
    path: openApiPath(path),
    operationId: alias ? `${route.operationId}Alias${index > 1 ? index : ''}` : route.operationId,
    summary: alias ? `${route.summary} (alias)` : route.summary,
    description: route.description ?? `${route.summary}.`,
    tags: [route.dialect ?? route].flatMap(({ tag }) => tag ?? []),
    security: securityOf(route),
    request: {
      ...defined({ params, query, headers: route.headers }),
      ...(body === undefined || route.readBody === undefined
        ? {}
        : {
            body: {
              required: !body.safeParse({}).success,
              content: Object.fromEntries(route.readBody.mediaTypes.map((type) => [type, { schema: body }])),
            },
          }),
    },
    responses: {
      [route.success.status ?? 200]: describeSuccess(route.success),
      ...(route.authentication === 'admin' && route.method === 'get'
        ? { 304: { description: 'The version in `if-none-match` is still current.' } }
        : {}),
      ...Object.fromEntries(
        Object.entries(route.otherAnswers ?? {}).map(([status, answer]) => [status, describeSuccess(answer)]),
      ),
      ...describeErrors(route),
    },
  };
}

/** Uses JSON Schema's way of describing text that contains another media type. */
function eventsOf(event: z.ZodType) {
  return {
    type: 'string',
    description: 'Server-sent events.',
    contentMediaType: eventStreamType,
    contentSchema: { $ref: `#/components/schemas/${event.meta()?.id}` },
  } as const;
}

function describeSuccess(success: Success): RouteConfig['responses'][string] {
  const { description, schema, event, mediaType = 'application/json' } = success;
  if (mediaType === 'none') return { description };
  const contentOf = (type: string): ZodMediaTypeObject => {
    if (type !== eventStreamType)
      return { schema: type === 'application/json' ? (schema ?? {}) : { type: 'string' } };
    // Tools would apply a stream's schema to each event, although an event's fields are not JSON.
    return event === undefined ? { schema: {} } : { schema: eventsOf(event) };
  };
  return {
    description,
    content: Object.fromEntries([mediaType].flat().map((type) => [type, contentOf(type)])),
  };
}

export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const codes: readonly ErrorCode[] = [
    ...(route.authentication === 'none' ? [] : (['invalid_api_key'] as const)),
    ...(route.authentication === 'key' ? (['key_not_allowed'] as const) : []),
    ...(isProbe(route.operationId) ? [] : (['rate_limit_exceeded'] as const)),
    ...(route.authentication === 'admin' && route.access !== 'read'
      ? (['operator_not_allowed'] as const)
      : []),
    ...(route.readBody === undefined ? [] : bodyCodes),
    ...(route.input.shape.query === undefined ? [] : (['invalid_parameter'] as const)),
    ...(route.errors ?? []),
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
  return {
    ...Object.fromEntries(
      statuses.map((status) => [
        String(status),
        describeError(
          codes
            .filter((code) => statusOf(code) === status)
            .map((code) => `\`${code}\``)
            .join(', '),
          route.dialect?.errors?.schema,
        ),
      ]),
    ),
    431: describeError(`${headersTooLarge} The code is empty.`),
  };
}

function describeError(
  description: string,
  schema: z.ZodType = errorSchema,
): RouteConfig['responses'][string] {
  return { description, content: { 'application/json': { schema } } };
}
