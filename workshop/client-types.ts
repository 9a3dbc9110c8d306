import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { documentText } from './document.ts';

/**
 * `npm run document`: writes docs/openapi.json and generates the client's types in src/client/types.ts from it. This
 * generator covers only the parts of JSON Schema that the document uses. Published ones type every route and require an
 * older compiler.
 */

const roots = `VideoRequest CreatedTask VideoTask VideoTaskList ImageGenerationRequest ImageGenerationForm
  ImageEditRequest ImageEditForm Images ImageTask ImageTaskList Estimate File FileList Model Balance
  Error`.split(/\s+/);

interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | Schema | undefined;
  readonly items?: Schema | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
}

const schemaSchema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(schemaSchema).optional(),
    oneOf: z.array(schemaSchema).optional(),
    properties: z.record(z.string(), schemaSchema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), schemaSchema]).optional(),
    items: schemaSchema.optional(),
    format: z.string().optional(),
    description: z.string().optional(),
  }),
);
const documentSchema = z.object({ components: z.object({ schemas: z.record(z.string(), schemaSchema) }) });
const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export function clientTypes(): string {
  const { schemas } = documentSchema.parse(JSON.parse(documentText())).components;
  const names = new Set(roots);
  const types: string[] = [];
  const context = (name: string): string => {
    names.add(name);
    return name;
  };
  for (const name of names) {
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`the document has no schema ${name}`);
    types.push(`${comment(schema)}export type ${name} = ${typeOf(schema, context)};\n`);
  }
  return `/** Written by \`npm run document\` from the OpenAPI document. */\n\n${types.join('\n')}`;
}

type Named = (name: string) => string;

function typeOf(schema: Schema, named: Named): string {
  const { $ref, enum: words, type, format } = schema;
  const variants = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) return named($ref.split('/').at(-1) ?? '');
  if (words !== undefined) return words.map((word) => JSON.stringify(word)).join(' | ');
  if (variants !== undefined) return union(variants.map((variant) => typeOf(variant, named)));
  if (format === 'binary') return union(['Blob', ...(isNullable(type) ? ['null'] : [])]);
  if (type === undefined) return 'unknown';
  if (typeof type === 'string') return typeOfKind(type, schema, named);
  if (type.length > 4) return 'unknown';
  return union(type.map((kind) => typeOfKind(kind, schema, named)));
}

function typeOfKind(kind: string, schema: Schema, named: Named): string {
  if (kind === 'integer') return 'number';
  if (kind === 'array') return `readonly (${typeOf(schema.items ?? {}, named)})[]`;
  return kind === 'object' ? objectOf(schema, named) : kind;
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, named: Named): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(field)}readonly ${name}${mark}: ${typeOf(field, named)};`;
  });
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  return `{\n${[...fields, ...(isOpen ? ['readonly [name: string]: unknown;'] : [])].join('\n')}\n}`;
}

function comment({ description }: Schema): string {
  return description === undefined ? '' : `/** ${description} */\n`;
}

function isNullable(type: Schema['type']): boolean {
  return Array.isArray(type) && type.includes('null');
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path('docs/openapi.json'), documentText());
  writeFileSync(path('src/client/types.ts'), clientTypes());
}
