import { readFileSync } from 'node:fs';
import { isRecord } from '../base/is-record.ts';
import { openApiPath, schemaPlace, type OpenApiDocument } from './openapi-schemas.ts';
import type { Route } from './route.ts';

const place = new URL('../../docs/openapi.json', import.meta.url);

/**
 * Removes what this gateway does not offer from docs/openapi.json, which `npm run document` writes. `createDocument`
 * derives the same document from the declarations, but takes 0.5 s of CPU time.
 */
export function servedDocument(routes: readonly Route[]): OpenApiDocument {
  const whole: unknown = JSON.parse(readFileSync(place, 'utf8'));
  if (!isDocument(whole)) throw new TypeError('docs/openapi.json is not an OpenAPI document');
  const served = new Set(
    routes.flatMap(({ method, paths }) => paths.map((path) => `${method} ${openApiPath(path)}`)),
  );
  const paths = Object.fromEntries(
    Object.entries(whole.paths ?? {}).flatMap(([path, item]) => {
      const kept = Object.entries(item).filter(([method]) => served.has(`${method} ${path}`));
      return kept.length === 0 ? [] : [[path, Object.fromEntries(kept)]];
    }),
  );
  const { schemas = {}, ...components } = whole.components ?? {};
  const used = usedSchemas({ paths, webhooks: whole.webhooks, components }, schemas);
  const tags = new Set([paths, whole.webhooks].flatMap(valuesOf).flatMap(valuesOf).flatMap(tagsOf));
  return {
    ...whole,
    tags: (whole.tags ?? []).filter(({ name }) => tags.has(name)),
    paths,
    components: {
      ...components,
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name))),
    },
  };
}

function isDocument(value: unknown): value is OpenApiDocument {
  return isRecord(value) && 'openapi' in value && 'paths' in value;
}

function usedSchemas(part: unknown, schemas: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const used = new Set(namesIn(part));
  for (const name of used) for (const next of namesIn(schemas[name])) used.add(next);
  return used;
}

function namesIn(part: unknown): string[] {
  const pattern = new RegExp(`"${schemaPlace}([^"]+)"`, 'g');
  return Array.from((JSON.stringify(part) ?? '').matchAll(pattern), ([, name = '']) => name);
}

function valuesOf(value: unknown): unknown[] {
  return isRecord(value) ? Object.values(value) : [];
}

function tagsOf(operation: unknown): unknown[] {
  return isRecord(operation) && Array.isArray(operation['tags']) ? operation['tags'] : [];
}
