import { namesOf } from '../base/names-of.ts';
import { isUsed } from './facts-of-request.ts';
import { imageFieldNames, type FieldName, type PlainFacts } from './model-facts.ts';
import type {
  AskedRequest,
  AskedVideo,
  GenerationRequest,
  ImageRequest,
  JsonObject,
  VideoRequest,
} from './request.ts';

export interface Consumption {
  readonly fields: readonly OptionalField[];
  readonly metadata: (name: string) => boolean;
}

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

export const optionalFields = namesOf(fieldNames);

export function consumptionOf(facts: PlainFacts): Consumption {
  return {
    fields: optionalFields.filter((field) => facts.fields?.[fieldNames[field]] === true),
    metadata: (name) => isUsed(name, facts),
  };
}

export function ignoredFields(asked: AskedRequest, request: GenerationRequest, facts: PlainFacts): string[] {
  if (request.kind === 'image') return unconsumedOfImage(request, facts);
  return asked.kind === 'image' ? [] : unconsumed(asked, request, consumptionOf(facts));
}

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

export function someNames(names: readonly string[]): string[] {
  return names.slice(0, someNamesMax).map(shortName);
}

export function shortName(name: string): string {
  return name.slice(0, nameCharactersMax);
}
