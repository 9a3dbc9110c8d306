import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { conditionSchema, offeredShape, parameterShape } from './model-facts.ts';
import type { ModelFacts, PlainFacts } from './model-facts.ts';

/** Callers see these facts, so vendor details must not appear here. */

const plainShape = {
  ...offeredShape,
  parameters: z.record(z.string(), z.strictObject(parameterShape)).optional(),
};

export const offeredFactsSchema = z
  .strictObject({
    ...plainShape,
    cases: z
      .array(z.strictObject({ when: conditionSchema.optional(), facts: z.strictObject(plainShape) }))
      .optional(),
  })
  .meta({
    id: 'ModelFacts',
    description:
      'The inputs that one channel accepts besides a prompt, and the outputs that it renders. If a fact is absent, it is unknown to the gateway, and the upstream decides. Fields that are not true in `fields` are not sent, but are listed in `warnings`. `parameters` lists names that may be sent, in `metadata` or in the body of an image request. A parameter whose `values` are empty cannot be sent. `cases` override the other facts, in order, wherever their condition is met.',
  });
export type OfferedFacts = z.infer<typeof offeredFactsSchema>;

export function offeredFacts({ cases = [], ...facts }: ModelFacts): OfferedFacts {
  const sendable = new Set([facts, ...cases.map(({ facts: over }) => over)].flatMap(sendableNames));
  const seen = cases.flatMap(({ when, facts: over }) => {
    const shown = plainly(over, sendable);
    return Object.keys(shown).length === 0 ? [] : [defined({ when, facts: shown })];
  });
  return { ...plainly(facts, sendable), ...(seen.length === 0 ? {} : { cases: seen }) };
}

function sendableNames({ parameters = {} }: PlainFacts): string[] {
  return Object.keys(parameters).filter((name) => parameters[name]?.values?.length !== 0);
}

function plainly(
  {
    addresses: _a,
    reserved: _r,
    unsaid: _u,
    per_call: _p,
    data_only: _d,
    parameters,
    ...offered
  }: PlainFacts,
  sendable: ReadonlySet<string>,
) {
  const { tokens: _t, input_seconds: _i, frames_per_second: _f, ...facts } = offered;
  if (parameters === undefined) return facts;
  const rules = Object.entries(parameters).flatMap(([name, { sent_as: _s, read: _e, ...rule }]) =>
    sendable.has(name) ? [[name, rule] as const] : [],
  );
  return rules.length === 0 ? facts : { ...facts, parameters: Object.fromEntries(rules) };
}
