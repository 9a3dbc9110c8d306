import { z } from 'zod';
import type { JsonValue } from './request.ts';

/**
 * The `mapping` of a channel's model in gateway.yaml, for vendors whose models have no common format. It defines how
 * requests are written and responses are read. src/providers/shared implements it, and docs/configuration.md describes
 * it.
 */

const mappedInputs = ['text_to_video', 'first_last_frame', 'reference', 'generate', 'edit'] as const;
export type MappedInput = (typeof mappedInputs)[number];

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
    name: z
      .union([fieldName, z.array(fieldName).min(1)])
      .optional()
      .describe(
        'The vendor’s field name. For media, one name per file. If form is sides, the names of the width and the height',
      ),
    fixed: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('The only values that the model renders, if the vendor has no field for them'),
    form: z
      .enum(mappedForms)
      .optional()
      .describe('How the value is written. If unset, it is written in the usual form of the field'),
    values: z
      .record(z.string(), json)
      .optional()
      .describe('The vendor’s value for each of our values. Values that are not listed are rejected'),
    auto: json.optional().describe('The value that is sent for a duration that the model chooses'),
    inputs: inputs.describe(
      'The kinds of input with which the field is sent. If unset, it is sent with all kinds',
    ),
  })
  .refine(
    ({ name, fixed }) => (name === undefined) !== (fixed === undefined),
    'needs a name, or fixed values',
  );

export type FieldRule = z.infer<typeof ruleSchema>;

const fieldSchema = z
  .union([fieldName.transform((name): FieldRule => ({ name })), ruleSchema])
  .describe('The vendor’s name for the field. If unset, requests with the field are rejected');

const fieldsSchema = z.partialRecord(z.enum(mappedFields), fieldSchema);

const decimal = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^\d+(?:\.\d+)?$/));
const path = z
  .string()
  .regex(/^[\w-]+(?:\[\])?(?:\.[\w-]+(?:\[\])?)*$/, 'must be a path such as images[].url');

const placeOf = (what: string) => path.optional().describe(`The path in a response to ${what}`);

export const fieldMappingSchema = z
  .strictObject({
    endpoints: z
      .partialRecord(
        z.enum(mappedInputs),
        z.string().min(1).describe('The vendor’s name for the model with this kind of input'),
      )
      .optional(),
    fields: fieldsSchema,
    constants: z.record(fieldName, json).default({}).describe('Fields that are sent with every request'),
    pass: z
      .array(fieldName)
      .default([])
      .describe('The names in metadata that are sent unchanged. Other names are not sent'),
    marker: fieldName
      .optional()
      .describe('A text field in which the vendor keeps our text, so that a lost job can be found'),
    result: path.describe('The path of the file URLs in a response, such as images[].url'),
    facts: z
      .strictObject({
        duration: placeOf('the duration in seconds'),
        resolution: placeOf('the resolution'),
        ratio: placeOf('the ratio'),
        size: placeOf('the size in pixels'),
        quality: placeOf('the quality'),
        completion_tokens: placeOf('the number of output tokens'),
        total_tokens: placeOf('the total number of tokens'),
      })
      .default({}),
    cost: z
      .strictObject({
        unit: z.string().min(1).describe('The currency in which the vendor charges'),
        price: decimal.default('1').describe('The vendor’s price for one unit'),
        units: placeOf('the number of units charged. If unset, the vendor’s usual path is used'),
      })
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

export function formOf(field: MappedField, rule: FieldRule): MappedForm {
  return rule.form ?? forms[field][0];
}

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
      mistakes.push(at('auto', 'only the duration can be left to the model'));
    if (isSides && ruleNames(rule).length !== 2)
      mistakes.push(at('name', 'must name the width and the height'));
    if (Array.isArray(rule.name) && !isSides && !mediaFields.includes(field))
      mistakes.push(at('name', 'only media can have more than one name'));
    return mistakes;
  });
}

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

/** A rule without `inputs` applies to all inputs that can include the field. */
export function inputsOf(field: string, rule: FieldRule): readonly MappedInput[] {
  if (rule.inputs !== undefined) return rule.inputs;
  if (field === 'first_frame' || field === 'last_frame') return ['first_last_frame'];
  if (field === 'images') return ['reference', 'edit'];
  return field === 'videos' || field === 'audios' ? ['reference'] : mappedInputs;
}
