import type { createDocument } from './openapi.ts';

type OpenApiDocument = ReturnType<typeof createDocument>;
type Schemas = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>;
type AnySchema = Schemas[string];
type Schema = Exclude<AnySchema, { $ref: string }>;

/**
 * `null` in an optional field of a body counts as absent (`withoutNulls` in body-fields.ts): the document says so for
 * every route. Changes the document.
 */
export function allowNulls({ paths = {}, components }: OpenApiDocument): void {
  const schemas = components?.schemas ?? {};
  const bodies = Object.values(paths).flatMap(({ post }) => {
    const { requestBody } = post ?? {};
    if (requestBody === undefined || '$ref' in requestBody) return [];
    const schema = requestBody.content['application/json']?.schema;
    return schema === undefined ? [] : [resolve(schema, schemas)];
  });
  for (const body of new Set(bodies)) allowNullsIn(body);
}

function resolve(schema: AnySchema, schemas: Schemas): Schema {
  if (!('$ref' in schema)) return schema;
  const target = schemas[schema.$ref.slice('#/components/schemas/'.length)];
  return target === undefined ? {} : resolve(target, schemas);
}

function allowNullsIn(body: Schema): void {
  const required = new Set(body.required);
  const properties = Object.entries(body.properties ?? {});
  body.properties = Object.fromEntries(
    properties.map(([name, field]) => [name, required.has(name) ? field : withNull(field)]),
  );
}

function withNull(field: AnySchema): AnySchema {
  if ('$ref' in field) return { anyOf: [field, { type: 'null' }] };
  const { type, anyOf } = field;
  if (anyOf !== undefined) return { ...field, anyOf: [...anyOf, { type: 'null' }] };
  // Without a type anything is allowed.
  if (type === undefined) return field;
  const words: readonly unknown[] | undefined = field.enum;
  return {
    ...field,
    type: [...new Set([type, 'null' as const].flat())],
    ...(words === undefined ? {} : { enum: [...words, null] }),
  };
}
