import type { createDocument } from './openapi.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;
export type Schemas = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>;
export type AnySchema = Schemas[string];
export type Schema = Exclude<AnySchema, { $ref: string }>;

export const schemaPlace = '#/components/schemas/';

export function nameOf(schema: AnySchema): string | undefined {
  return '$ref' in schema ? schema.$ref.slice(schemaPlace.length) : undefined;
}

export function resolve(schema: AnySchema, schemas: Schemas): Schema {
  return '$ref' in schema ? resolve(schemas[nameOf(schema) ?? ''] ?? {}, schemas) : schema;
}

/** Converts `/v1/videos/generations/{:task_id}` and `…/:task_id` to `…/{task_id}`. */
export function openApiPath(path: string): string {
  return path.replace(/\{?:([A-Za-z_]+)\}?/g, '{$1}');
}
