import type { AskedVideo, VideoRequest } from './request.ts';

/** What of a request an adapter uses: the rest is named in the create's warnings. */
export interface Consumption {
  /** Those that are sent, or that the model does anyway. */
  readonly fields: readonly OptionalField[];
  /** Whether this name in `metadata` is used. */
  readonly metadata: (name: string) => boolean;
}

/** By our names, and as callers spell them. */
const wireNames = {
  mode: 'mode',
  resolution: 'resolution',
  ratio: 'ratio',
  duration: 'duration',
  draft: 'metadata.draft',
  generateAudio: 'metadata.generate_audio',
  watermark: 'metadata.watermark',
  returnLastFrame: 'metadata.return_last_frame',
  seed: 'metadata.seed',
  safetyIdentifier: 'metadata.safety_identifier',
  tools: 'metadata.tools',
} as const satisfies Partial<Record<keyof VideoRequest, string>>;

export type OptionalField = keyof typeof wireNames;

const isField = (name: string): name is OptionalField => Object.hasOwn(wireNames, name);
export const optionalFields: readonly OptionalField[] = Object.keys(wireNames).filter(isField);

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
    ...unused.map((field) => wireNames[field]),
    ...Object.keys(request.extra).flatMap((name) => (metadata(name) ? [] : [`metadata.${name}`])),
  ];
}
