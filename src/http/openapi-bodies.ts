import { nameOf, resolve, schemaPlace } from './openapi-schemas.ts';
import type { AnySchema, OpenApiDocument, Schema } from './openapi-schemas.ts';

/**
 * Describes what schemas cannot express.
 * - A body that can be JSON or a form has one schema for each, because only a form contains files.
 * - `metadata` is an object or its JSON text.
 * - `null` in an optional JSON field means that the field is missing (`withoutNulls` in body-fields.ts).
 */
export function describeBodies({ paths = {}, components }: OpenApiDocument): void {
  const schemas = components?.schemas ?? {};
  const json = new Set<Schema>();
  for (const { post } of Object.values(paths)) {
    const { requestBody } = post ?? {};
    if (requestBody === undefined || '$ref' in requestBody) continue;
    const { 'application/json': asJson, 'multipart/form-data': form } = requestBody.content;
    const sent = asJson?.schema ?? {};
    const name = nameOf(sent);
    if (name !== undefined && form !== undefined) {
      const formName = `${name.replace(/Request$/, '')}Form`;
      schemas[formName] ??= withTextOfMetadata({ ...resolve(sent, schemas) });
      requestBody.content['multipart/form-data'] = { ...form, schema: { $ref: schemaPlace + formName } };
    }
    json.add(resolve(sent, schemas));
  }
  for (const body of json) {
    body.properties = fieldsOfJson(withTextOfMetadata(body).properties ?? {});
    allowNullsIn(body);
  }
}

function fieldsOfJson(properties: Readonly<Record<string, AnySchema>>): Record<string, AnySchema> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => {
      const json = withoutFiles(field);
      return json === undefined ? [] : [[name, json] as const];
    }),
  );
}

function withoutFiles(schema: AnySchema): AnySchema | undefined {
  if ('$ref' in schema) return schema;
  if (schema.format === 'binary') return undefined;
  const { anyOf, items } = schema;
  const inner = items === undefined ? undefined : withoutFiles(items);
  const kept = anyOf?.flatMap((each) => withoutFiles(each) ?? []);
  return {
    ...schema,
    ...(inner === undefined ? {} : { items: inner }),
    ...(kept === undefined ? {} : { anyOf: kept }),
  };
}

function withTextOfMetadata(body: Schema): Schema {
  const { metadata } = body.properties ?? {};
  if (metadata === undefined || '$ref' in metadata || metadata.type !== 'object') return body;
  const { description, ...object } = metadata;
  const text: Schema = { type: 'string', description: 'The object as JSON.' };
  const either = { ...(description === undefined ? {} : { description }), anyOf: [object, text] };
  return { ...body, properties: { ...body.properties, metadata: either } };
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
  if (type === undefined) return field;
  const words: readonly unknown[] | undefined = field.enum;
  return {
    ...field,
    type: [...new Set([type, 'null' as const].flat())],
    ...(words === undefined ? {} : { enum: [...words, null] }),
  };
}
