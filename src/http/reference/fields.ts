import { nameOf, type AnySchema, type Schema } from '../openapi-schemas.ts';
import type { Objects } from './document.ts';
import { html, isEmpty, nothing, type Markup } from './markup.ts';
import { prose } from './prose.ts';

export interface Place {
  readonly objects: Objects;
  readonly id: string;
  /** True for the fields of a request, where clients can set an optional field to null instead of omitting it. */
  readonly isSent: boolean;
}

export interface Field {
  readonly name: string;
  readonly schema: AnySchema;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
}

export function schemaFields(schema: Schema, place: Place): Markup {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    isRequired: required.has(name),
  }));
  if (fields.length > 0) return fieldList(sorted(fields, place), place);
  const { discriminator } = schema;
  return html`${alternativesOf(schema).map((each, index) => {
    const name = nameOf(each);
    const values = Object.entries(discriminator?.mapping ?? {})
      .filter(([, to]) => to.endsWith(`/${name ?? ''}`))
      .map(([value]) => html`<code>${value}</code>`);
    const condition =
      values.length === 0
        ? nothing
        : html`If <code>${discriminator?.propertyName}</code> is ${joined(values)}: `;
    return html`<div class="alternative">
      ${condition}${typeOf(each, place)}${innerOf(each, numbered(place, index))}
    </div>`;
  })}`;
}

function sorted(fields: readonly Field[], { isSent }: Place): readonly Field[] {
  return isSent ? fields.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired)) : fields;
}

export function fieldList(fields: readonly Field[], place: Place): Markup {
  return html`<ul class="fields">
    ${fields.map((field) => fieldItem(field, place))}
  </ul>`;
}

function fieldItem({ name, schema, isRequired, description }: Field, place: Place): Markup {
  const at = { ...place, id: `${place.id}.${name}` };
  const { description: own } = place.objects.resolve(schema);
  const words = 'description' in schema ? schema.description : own;
  const need = place.isSent && isRequired ? html` <b class="small">required</b>` : nothing;
  // The page has thousands of fields. Leaving out classes keeps it small.
  return html`<li id="${at.id}">
    <code>${name}</code>
    <span>${typeOf(schema, at)}</span>${need}${prose(description ?? words)}${innerOf(schema, at)}
  </li>`;
}

/** The page adds the schema's fields when the section is opened. */
export function unfoldable(name: string): Markup {
  return html`<details data-object="${name}">
    <summary>Fields of ${name}</summary>
    <a href="#${name}">${name}</a>
  </details>`;
}

function innerOf(schema: AnySchema, place: Place): Markup {
  const name = nameOf(schema);
  const { properties, items, additionalProperties } = place.objects.resolve(schema);
  if (name !== undefined && isObject(schema, place)) return unfoldable(name);
  if (properties !== undefined) {
    const fields = schemaFields(place.objects.resolve(schema), place);
    return html`<details>
      <summary>${Object.keys(properties).length} fields</summary>
      ${fields}
    </details>`;
  }
  const inner = [
    ...(items === undefined ? [] : [items]),
    ...alternativesOf(place.objects.resolve(schema)),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  const withFields = inner.filter((each) => place.objects.resolve(each).properties !== undefined);
  const parts = inner
    .map((each) => innerOf(each, withFields.length > 1 ? numbered(place, inner.indexOf(each)) : place))
    .filter((part) => !isEmpty(part));
  return html`${parts}`;
}

function numbered(place: Place, index: number): Place {
  return { ...place, id: `${place.id}.${index + 1}` };
}

export function isObject(schema: AnySchema, place: Place): boolean {
  const { properties, oneOf, anyOf, items } = place.objects.resolve(schema);
  return (
    properties !== undefined ||
    [...(oneOf ?? []), ...(anyOf ?? []), ...(items === undefined ? [] : [items])].some((each) =>
      isObject(each, place),
    )
  );
}

function alternativesOf({ oneOf, anyOf, allOf }: Schema): readonly AnySchema[] {
  return [...(oneOf ?? []), ...(anyOf ?? []), ...(allOf ?? [])];
}

export function typeOf(schema: AnySchema, place: Place): Markup {
  const name = nameOf(schema);
  if (name !== undefined && isObject(schema, place)) return html`<a href="#${name}">${name}</a>`;
  const resolved = place.objects.resolve(schema);
  const kinds = alternativesOf(resolved).map((each) => typeOf(each, place));
  const known = kinds.length > 0 ? kinds : kindsOf(resolved, place);
  const unique = [...new Map(known.map((kind) => [kind.text, kind])).values()];
  const shown = place.isSent && unique.length > 1 ? unique.filter(({ text }) => text !== 'null') : unique;
  return html`${joined(shown, ' or ')}${limitsOf(resolved)}`;
}

function kindsOf(schema: Schema, place: Place): readonly Markup[] {
  const { type, enum: words, items, additionalProperties, format } = schema;
  const values: readonly unknown[] = words ?? (schema.const === undefined ? [] : [schema.const]);
  if (values.length > 0) {
    const shown = values.filter((value) => value !== null || !place.isSent);
    return [html`${shown.length > 1 ? 'one of ' : ''}${joined(shown.map(literal))}`];
  }
  if (format === 'binary') return [html`file`];
  return [type ?? 'any'].flat().map((kind) => {
    if (kind === 'any') return html`anything`;
    if (kind === 'array' && items !== undefined) return html`list of ${typeOf(items, place)}`;
    const isMap = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0;
    if (kind === 'object' && isMap) return html`object of ${typeOf(additionalProperties, place)}`;
    return html`${kind}`;
  });
}

function limitsOf(schema: Schema): Markup {
  const { maxLength, minimum, maximum, exclusiveMinimum, maxItems } = schema;
  const limits = [
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} items`]),
  ].map((limit) => html`, ${limit}`);
  const standard: unknown = schema.default;
  return html`${limits}${standard === undefined ? nothing : html`, default ${literal(standard)}`}`;
}

function literal(value: unknown): Markup {
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}

function joined(parts: readonly Markup[], by = ', '): Markup {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${by}${part}`))}`;
}
