import { z } from 'zod';
import type { JsonValue } from './request.ts';

/**
 * How one model of a vendor without a format of its own is asked and read: `mapping` of a channel's model in
 * gateway.yaml. src/providers/shared carries it out; docs/configuration.md describes it.
 */

/** What a request may hold beside its texts; endpoints and fields may differ by it. */
const mappedInputs = ['text_to_video', 'first_last_frame', 'reference', 'generate', 'edit'] as const;
export type MappedInput = (typeof mappedInputs)[number];

/** Our names of what a request can say. */
const mappedFields = [
  'prompt',
  'mode',
  'first_frame',
  'last_frame',
  'images',
  'videos',
  'audios',
  'mask',
  'resolution',
  'ratio',
  'size',
  'quality',
  'duration',
  'n',
  'seed',
  'generate_audio',
  'watermark',
  'draft',
  'return_last_frame',
  'safety_identifier',
] as const;
export type MappedField = (typeof mappedFields)[number];

const mappedForms = ['text', 'number', 'seconds', 'flag', 'one', 'list', 'object', 'sides'] as const;
type MappedForm = (typeof mappedForms)[number];

/** Forms that a field may be sent in; the first is the usual one. */
const forms: Readonly<Record<MappedField, readonly [MappedForm, ...MappedForm[]]>> = {
  prompt: ['text'],
  mode: ['text'],
  first_frame: ['one', 'list'],
  last_frame: ['one', 'list'],
  images: ['list', 'one'],
  videos: ['list', 'one'],
  audios: ['list', 'one'],
  mask: ['one', 'list'],
  resolution: ['text'],
  ratio: ['text'],
  size: ['text', 'object', 'sides'],
  quality: ['text'],
  duration: ['number', 'text', 'seconds'],
  n: ['number', 'text'],
  seed: ['number'],
  generate_audio: ['flag'],
  watermark: ['flag'],
  draft: ['flag'],
  return_last_frame: ['flag'],
  safety_identifier: ['text'],
};

const mediaFields: readonly string[] = ['first_frame', 'last_frame', 'images', 'videos', 'audios', 'mask'];

const json: z.ZodType<JsonValue> = z.json();
const inputs = z.array(z.enum(mappedInputs)).min(1).optional();
const fieldName = z.string().min(1);

const ruleSchema = z
  .strictObject({
    name: z.union([fieldName, z.array(fieldName).min(1)]).optional(),
    fixed: z.array(z.string()).min(1).optional(),
    form: z.enum(mappedForms).optional(),
    values: z.record(z.string(), json).optional(),
    auto: json.optional(),
    inputs,
  })
  .refine(
    ({ name, fixed }) => (name === undefined) !== (fixed === undefined),
    'needs a name, or fixed values',
  );

export type FieldRule = z.infer<typeof ruleSchema>;

const fieldSchema = z.union([fieldName.transform((name): FieldRule => ({ name })), ruleSchema]);

const fieldsSchema = z.partialRecord(z.enum(mappedFields), fieldSchema);

const decimal = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^\d+(?:\.\d+)?$/));
const path = z
  .string()
  .regex(/^[\w-]+(?:\[\])?(?:\.[\w-]+(?:\[\])?)*$/, 'must be a path such as images[].url');

export const fieldMappingSchema = z
  .strictObject({
    endpoints: z.partialRecord(z.enum(mappedInputs), z.string().min(1)).optional(),
    fields: fieldsSchema,
    constants: z.record(fieldName, json).default({}),
    pass: z.array(fieldName).default([]),
    marker: fieldName.optional(),
    result: path,
    facts: z
      .strictObject({
        duration: path.optional(),
        resolution: path.optional(),
        ratio: path.optional(),
        size: path.optional(),
        quality: path.optional(),
        completion_tokens: path.optional(),
        total_tokens: path.optional(),
      })
      .default({}),
    cost: z
      .strictObject({ unit: z.string().min(1), price: decimal.default('1'), units: path.optional() })
      .optional(),
  })
  .superRefine((mapping, context) => {
    for (const { path: at, message } of findMistakes(mapping)) {
      context.addIssue({ code: 'custom', path: [...at], message });
    }
  });
export type FieldMapping = z.infer<typeof fieldMappingSchema>;

interface Mistake {
  readonly path: readonly string[];
  readonly message: string;
}

type Sketch = Pick<FieldMapping, 'fields' | 'constants' | 'pass' | 'marker'>;

export function ruleNames({ name }: FieldRule): readonly string[] {
  return [name ?? []].flat();
}

/** The form in which the field is sent. */
export function formOf(field: MappedField, rule: FieldRule): MappedForm {
  return rule.form ?? forms[field][0];
}

/** How many media fit into the field. */
export function itemsMax(field: MappedField, rule: FieldRule): number {
  const names = ruleNames(rule).length;
  if (names > 1) return names;
  return formOf(field, rule) === 'list' ? Number.POSITIVE_INFINITY : 1;
}

function findMistakes(mapping: Sketch): Mistake[] {
  return [...findFormMistakes(mapping), ...findNameMistakes(mapping)];
}

function findFormMistakes({ fields }: Sketch): Mistake[] {
  return mappedFields.flatMap((field) => {
    const rule = fields[field];
    if (rule === undefined) return [];
    const at = (key: string, message: string): Mistake => ({ path: ['fields', field, key], message });
    const known: readonly string[] = forms[field];
    const mistakes = known.includes(formOf(field, rule))
      ? []
      : [at('form', `must be one of ${known.join(', ')}`)];
    const isSides = rule.form === 'sides';
    if (rule.auto !== undefined && field !== 'duration')
      mistakes.push(at('auto', 'only a duration may be open'));
    if (isSides && ruleNames(rule).length !== 2)
      mistakes.push(at('name', 'must name the width and the height'));
    if (Array.isArray(rule.name) && !isSides && !mediaFields.includes(field))
      mistakes.push(at('name', 'only media may have several names'));
    return mistakes;
  });
}

/** Two texts must never be written under one name, whatever the request holds. */
function findNameMistakes({ fields, constants, pass, marker }: Sketch): Mistake[] {
  const uses = [
    ...mappedFields.flatMap((field) => {
      const rule = fields[field];
      return rule === undefined
        ? []
        : ruleNames(rule).map((name) => ({ name, path: ['fields', field], inputs: inputsOf(field, rule) }));
    }),
    ...Object.keys(constants).map((name) => ({ name, path: ['constants', name], inputs: mappedInputs })),
    ...pass.map((name) => ({ name, path: ['pass'], inputs: mappedInputs })),
    ...(marker === undefined ? [] : [{ name: marker, path: ['marker'], inputs: mappedInputs }]),
  ];
  return uses.flatMap((use, index) => {
    const other = uses
      .slice(0, index)
      .find(
        ({ name, inputs: taken }) => name === use.name && use.inputs.some((input) => taken.includes(input)),
      );
    return other === undefined
      ? []
      : [{ path: use.path, message: `"${use.name}" is ${other.path.join('.')} already` }];
  });
}

/** For which inputs a field is sent: those it names, or all in which it can occur. */
export function inputsOf(field: string, rule: FieldRule): readonly MappedInput[] {
  if (rule.inputs !== undefined) return rule.inputs;
  if (field === 'first_frame' || field === 'last_frame') return ['first_last_frame'];
  if (field === 'images') return ['reference', 'edit'];
  return field === 'videos' || field === 'audios' ? ['reference'] : mappedInputs;
}
