import { isRecord } from '../../../base/is-record.ts';
import type { Fixture, FixtureStep, VendorFile } from '../../../models/vendor-file.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import type { DoubleAnswer } from './double.ts';
import { readFixtureRequest } from './fixture-request.ts';

export interface Specimen {
  readonly fixture: Fixture;
  readonly request: GenerationRequest;
  readonly step: FixtureStep;
  readonly answers: readonly RecordedAnswer[];
}

export type RecordedAnswer = Exclude<DoubleAnswer, string>;

export interface Specimens {
  readonly accepted: Specimen | undefined;
  readonly refused: Specimen | undefined;
  readonly pending: Specimen | undefined;
  readonly succeeded: Specimen | undefined;
  readonly failed: Specimen | undefined;
  readonly find: Specimen | undefined;
}

export function specimensOf({ fixtures }: VendorFile, kind: Fixture['kind']): Specimens {
  const all = fixtures.filter((fixture) => fixture.kind === kind).flatMap(specimensIn);
  const pick = (fits: (step: FixtureStep) => boolean) => all.find(({ step }) => fits(step));
  const creates = ({ do: name }: FixtureStep): boolean => name === 'submit' || name === 'generate';
  const state = (word: string) => pick((step) => step.do === 'status' && step.expect['state'] === word);
  return {
    accepted: pick((step) => creates(step) && !Object.hasOwn(step.expect, 'error')),
    refused: pick((step) => creates(step) && isRecord(step.expect['error'])),
    pending: state('pending'),
    succeeded: state('succeeded'),
    failed: state('failed'),
    find: pick((step) => step.do === 'find'),
  };
}

function specimensIn(fixture: Fixture): Specimen[] {
  const request = readFixtureRequest(fixture);
  if ('mistake' in request) return [];
  return fixture.steps.map((step) => ({
    fixture,
    request,
    step,
    answers: step.exchanges.map(({ answer }) => answer),
  }));
}

export function withTexts(
  answers: readonly RecordedAnswer[],
  change: (text: string) => string | undefined,
): readonly RecordedAnswer[] {
  return answers.map((answer) => ({ ...answer, json: changed(answer.json, change) }));
}

function changed(value: unknown, change: (text: string) => string | undefined): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) {
    return value.map((each) => changed(each, change)).filter((each) => each !== undefined);
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, changed(each, change)] as const);
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}
