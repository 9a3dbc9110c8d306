import { isRecord } from '../../base/is-record.ts';
import { writers, type Asked } from '../../base/request-code.js';
import { nameOf } from '../openapi-schemas.ts';
import type { Objects, Operation } from './document.ts';
import { sampleOf } from './sample.ts';

export const languages = [
  'curl',
  'typescript',
  'python',
] as const satisfies readonly (keyof typeof writers)[];

export interface TriedRequest {
  readonly method: string;
  readonly path: string;
  readonly scheme: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly isRequired: boolean;
    readonly options: readonly unknown[];
  }[];
  readonly body: unknown;
}

export function requestOf(operation: Operation, objects: Objects): TriedRequest {
  const { method, path, security, parameters, bodies } = operation;
  const json = bodies.find(({ mediaType }) => mediaType === 'application/json')?.schema;
  const sample = json === undefined ? undefined : sampleOf(json, { objects, isShort: true });
  return {
    method,
    path,
    scheme: security[0]?.scheme ?? '',
    parameters: parameters.map(({ name, in: where, required = false, schema = {} }) => {
      const options: unknown[] = objects.resolve(schema).enum ?? [];
      return { name, in: where, isRequired: required, options };
    }),
    body: sample,
  };
}

export function programsOf(
  operation: Operation,
  request: TriedRequest,
  origin: string,
): readonly { readonly language: (typeof languages)[number]; readonly text: string }[] {
  const query = request.parameters
    .filter((each) => each.in === 'query' && each.isRequired)
    .map(({ name }) => `${name}={${name}}`);
  const { method, path, body } = request;
  const asked: Asked = {
    origin,
    method,
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    ...(isRecord(body) ? { body } : {}),
    hasKey: request.scheme !== '',
    answer: answerKind(operation),
  };
  return languages.map((language) => ({ language, text: writers[language](asked) }));
}

function answerKind({ answers }: Operation): 'json' | 'text' | 'file' {
  const types = answers
    .filter(({ status }) => status.startsWith('2'))
    .flatMap(({ contents }) => contents.map(({ mediaType }) => mediaType));
  if (types.includes('application/json')) return 'json';
  return types.length === 0 || types.some((type) => type.startsWith('text/') || type.endsWith('json'))
    ? 'text'
    : 'file';
}

export function answerSample({ answers }: Operation, objects: Objects): unknown {
  const success = answers.find(({ status }) => status.startsWith('2'));
  const json = success?.contents.find(({ mediaType }) => mediaType === 'application/json')?.schema;
  if (json === undefined) return undefined;
  const isDescribed = nameOf(json) !== undefined || Object.keys(json).length > 0;
  return isDescribed ? sampleOf(json, { objects, isShort: false }) : undefined;
}
