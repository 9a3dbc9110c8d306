import { resolve, type AnySchema, type OpenApiDocument, type Schema } from '../openapi-schemas.ts';

type PathItem = NonNullable<OpenApiDocument['paths']>[string];
type DocumentOperation = NonNullable<PathItem['get']>;
type Parameter = Exclude<NonNullable<DocumentOperation['parameters']>[number], { $ref: string }>;

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly { readonly scheme: string; readonly names: readonly string[] }[];
  readonly parameters: readonly Parameter[];
  readonly bodies: readonly Content[];
  readonly answers: readonly Answer[];
}

export interface Content {
  readonly mediaType: string;
  readonly schema: AnySchema | undefined;
}

interface Answer {
  readonly status: string;
  readonly description: string;
  readonly contents: readonly Content[];
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

const methods = ['post', 'get', 'put', 'delete', 'options'] as const;

export function groupsOf({ paths = {}, webhooks = {}, tags = [] }: OpenApiDocument): readonly Group[] {
  const all = [...Object.entries(paths), ...Object.entries(webhooks)].flatMap(([path, item]) =>
    '$ref' in item
      ? []
      : methods.flatMap((method) => {
          const found = item[method];
          return found === undefined ? [] : [{ path, method, found, id: found.operationId ?? '' }];
        }),
  );
  const nameOf = (id: string): string => {
    const base = id.replace(/Alias\d*$/, '');
    return all.some((each) => each.id === base) ? base : id;
  };
  const tagged = all
    .filter(({ id }) => nameOf(id) === id)
    .map(({ id, path, method, found }) => {
      const aliases = all.filter((each) => each.id !== id && nameOf(each.id) === id);
      const at = { path, method, aliases: aliases.map((each) => each.path) };
      return { tag: found.tags?.[0] ?? '', operation: read(found, at) };
    });
  return tags.map(({ name, description = '' }) => ({
    name,
    description,
    operations: tagged
      .filter(({ tag }) => tag === name)
      .map(({ operation }) => operation)
      .toSorted((one, other) => Number(creates(other)) - Number(creates(one))),
  }));
}

function creates({ id, method }: Operation): boolean {
  return method === 'POST' && /^(?:create|edit|submit)/.test(id);
}

function read(
  found: DocumentOperation,
  { path, method, aliases }: { path: string; method: string; aliases: readonly string[] },
): Operation {
  const { operationId = '', summary = '', description = '', security = [], requestBody, responses } = found;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    aliases,
    summary,
    // Omit the description if it only repeats the summary, as it does for operations that have none.
    description: description === `${summary}.` ? '' : description,
    security: security.flatMap((each) => Object.entries(each).map(([scheme, names]) => ({ scheme, names }))),
    parameters: (found.parameters ?? []).flatMap((each) => ('$ref' in each ? [] : [each])),
    bodies: requestBody === undefined || '$ref' in requestBody ? [] : contentsOf(requestBody.content),
    answers: Object.entries(responses ?? {}).flatMap(([status, answer]: [string, ResponseLike]) => ({
      status,
      description: answer.description ?? '',
      contents: contentsOf(answer.content ?? {}),
    })),
  };
}

interface ResponseLike {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: AnySchema }>>;
}

function contentsOf(content: NonNullable<ResponseLike['content']>): readonly Content[] {
  return Object.entries(content).map(([mediaType, { schema }]) => ({ mediaType, schema }));
}

export interface Objects {
  readonly names: readonly string[];
  resolve(schema: AnySchema): Schema;
}

export function objectsOf({ components }: OpenApiDocument): Objects {
  const schemas = components?.schemas ?? {};
  return {
    names: Object.keys(schemas).toSorted(),
    resolve: (schema) => resolve(schema, schemas),
  };
}
