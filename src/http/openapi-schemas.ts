import type { createDocument } from './openapi.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;
export type Schemas = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>;
export type AnySchema = Schemas[string];
export type Schema = Exclude<AnySchema, { $ref: string }>;

export const schemaPlace = '#/components/schemas/';

/** Undefined: the schema is inline. */
export function nameOf(schema: AnySchema): string | undefined {
  return '$ref' in schema ? schema.$ref.slice(schemaPlace.length) : undefined;
}

/** Follows references until it reaches the schema itself. */
export function resolve(schema: AnySchema, schemas: Schemas): Schema {
  return '$ref' in schema ? resolve(schemas[nameOf(schema) ?? ''] ?? {}, schemas) : schema;
}
