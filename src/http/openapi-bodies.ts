import type { createDocument } from './openapi.ts';

type OpenApiDocument = ReturnType<typeof createDocument>;
type Schemas = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>;
type AnySchema = Schemas[string];
type Schema = Exclude<AnySchema, { $ref: string }>;

const schemaPlace = '#/components/schemas/';

/**
 * Gives each body that can be JSON or a form one schema for JSON and one for the form, because only a form has files.
 * In both, `metadata` is an object or its JSON text. Changes the document.
 */
export function describeBodies({ paths = {}, components }: OpenApiDocument): void {
  const schemas = components?.schemas ?? {};
  for (const { post } of Object.values(paths)) {
    const { requestBody } = post ?? {};
    if (requestBody === undefined || '$ref' in requestBody) continue;
    const form = requestBody.content['multipart/form-data'];
    const name = nameOf(requestBody.content['application/json']?.schema);
    const whole = name === undefined ? undefined : schemas[name];
    if (name === undefined || whole === undefined || '$ref' in whole) continue;
    if (form !== undefined) {
      const formName = `${name.replace(/Request$/, '')}Form`;
      schemas[formName] ??= whole;
      requestBody.content['multipart/form-data'] = { ...form, schema: { $ref: schemaPlace + formName } };
    }
    schemas[name] = { ...whole, properties: fieldsOfJson(whole.properties ?? {}) };
  }
}

function nameOf(schema: AnySchema | undefined): string | undefined {
  return schema !== undefined && '$ref' in schema ? schema.$ref.slice(schemaPlace.length) : undefined;
}

function fieldsOfJson(properties: Readonly<Record<string, AnySchema>>): Record<string, AnySchema> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => {
      const json = withoutFiles(field);
      if (json === undefined) return [];
      return [[name, name === 'metadata' ? orText(json) : json] as const];
    }),
  );
}

/** Returns undefined for a file. */
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

function orText(schema: AnySchema): AnySchema {
  if ('$ref' in schema || schema.type !== 'object') return schema;
  const { description, ...object } = schema;
  const text: Schema = { type: 'string', description: 'The object as JSON.' };
  return { ...(description === undefined ? {} : { description }), anyOf: [object, text] };
}
