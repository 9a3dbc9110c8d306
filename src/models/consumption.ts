import { imageFieldNames, isUsed } from './model-facts.ts';
import type { FieldName, PlainFacts } from './model-facts.ts';
import type { AskedVideo, ImageRequest, JsonObject, VideoRequest } from './request.ts';

/** What of a request an adapter uses: the rest is named in the create's warnings. */
export interface Consumption {
  /** Those that are sent, or that the model does anyway. */
  readonly fields: readonly OptionalField[];
  /** Whether this name in `metadata` is used. */
  readonly metadata: (name: string) => boolean;
}

/** By our names, and as callers spell them. */
const fieldNames = {
  mode: 'mode',
  resolution: 'resolution',
  ratio: 'ratio',
  duration: 'duration',
  draft: 'draft',
  generateAudio: 'generate_audio',
  watermark: 'watermark',
  returnLastFrame: 'return_last_frame',
  seed: 'seed',
  safetyIdentifier: 'safety_identifier',
  tools: 'tools',
} as const satisfies Partial<Record<keyof VideoRequest, FieldName>>;

const atTop: readonly FieldName[] = ['mode', 'resolution', 'ratio', 'duration'];

export type OptionalField = keyof typeof fieldNames;

const isField = (name: string): name is OptionalField => Object.hasOwn(fieldNames, name);
export const optionalFields: readonly OptionalField[] = Object.keys(fieldNames).filter(isField);

/** What the facts of a model say of it. */
export function consumptionOf(facts: PlainFacts): Consumption {
  return {
    fields: optionalFields.filter((field) => facts.fields?.[fieldNames[field]] === true),
    metadata: (name) => isUsed(name, facts),
  };
}

/**
 * What the caller asked for and the adapter does not use, as we call it. A field that the model's entry has left out
 * already is not repeated, and what it has filled in was not asked for.
 */
export function unconsumed(
  asked: AskedVideo,
  request: VideoRequest,
  { fields, metadata }: Consumption,
): string[] {
  const unused = optionalFields.filter(
    (field) => asked[field] !== undefined && request[field] !== undefined && !fields.includes(field),
  );
  return [
    ...unused.map((field) => {
      const name = fieldNames[field];
      return atTop.includes(name) ? name : `metadata.${name}`;
    }),
    ...unusedNames(request.extra, metadata).map((name) => `metadata.${name}`),
  ];
}

/** The same of a request for images. */
export function unconsumedOfImage(request: ImageRequest, facts: PlainFacts): string[] {
  return [
    ...imageFieldNames.filter((name) => request[name] !== undefined && facts.fields?.[name] !== true),
    ...unusedNames(request.extra, (name) => isUsed(name, facts)),
  ];
}

function unusedNames(extra: JsonObject, isKnown: (name: string) => boolean): string[] {
  return someNames(Object.keys(extra).filter((name) => !isKnown(name)));
}

export const someNamesMax = 20;
const nameCharactersMax = 64;

/** Of names that callers chose: as many as an answer may repeat. */
export function someNames(names: readonly string[]): string[] {
  return names.slice(0, someNamesMax).map(shortName);
}

export function shortName(name: string): string {
  return name.slice(0, nameCharactersMax);
}
