import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { formatMicros, parseMicros } from '../../money/money.ts';
import { flagFacts, priceUnits, textFacts, unitWords } from '../../money/price.ts';
import type { Price, PriceUnit } from '../../money/price.ts';
import { quantitySources } from '../../money/reckoning.ts';
import type { Reckoning, WrittenStep } from '../../money/reckoning.ts';

const factValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const stepSchema = z.object({
  kind: z.enum(['price', 'minimum', 'multiplier', 'held', 'share', 'limit']),
  text: z.string(),
  amount: z.string().meta({ description: 'What the computation has come to with this step.' }),
});

const quantitySchema = z.object({
  value: z.string().meta({ description: 'Decimal text, in `unit`.' }),
  unit: z.string(),
  source: z.enum(quantitySources).meta({
    description:
      '`request`, `default`, `open`: as of facts. `formula`: tokens of an output of this resolution, ratio and length. `upstream`: its answer. `hold`: nothing was known.',
  }),
  seconds: z.number().optional().meta({ description: 'Of the output that it is for.' }),
  input_seconds: z.number().optional().meta({
    description:
      'Of the videos that were given, as measured. Absent: nothing is priced by it, or the most that may be given is assumed.',
  }),
});

export const reckoningSchema = z
  .object({
    amount: z.string(),
    channel: z.string(),
    unit: z.enum(priceUnits),
    rules_of: z.enum(['model', 'channel']).meta({
      description: 'Whose rules: the model’s, or those that the channel has of its own.',
    }),
    rule: z
      .object({ index: z.int(), when: z.record(z.string(), z.unknown()), price: z.string() })
      .nullable()
      .meta({ description: 'The first whose `when` holds. Null: none was applied.' }),
    facts: z
      .array(
        z.object({
          name: z.string(),
          value: factValue,
          source: z.enum(['request', 'default', 'open', 'upstream']),
        }),
      )
      .meta({
        description:
          'What the rules could test. `default`: the model’s entry names it. `open`: the request leaves it open, and it is assumed as dear as it can be. `upstream`: its answer. Seconds for `duration`.',
      }),
    quantity: quantitySchema.nullable(),
    steps: z.array(stepSchema).meta({ description: 'Each begins with the amount of the one before.' }),
  })
  .meta({ id: 'Reckoning' });

export interface ReckoningContext {
  readonly currency: string;
  /** That it was computed by. */
  readonly rules: Price['rules'];
  /** Of the hold, for a charge: what the model's entry has named. */
  readonly hold?: Reckoning | undefined;
}

/** How an amount comes about, for people. Nothing is computed here. */
export function presentReckoning(
  reckoning: Reckoning,
  { currency, rules, hold }: ReckoningContext,
): z.output<typeof reckoningSchema> {
  const { unit, rules_of, rule: index, facts, quantity, measured, steps } = reckoning;
  const rule = index === undefined ? undefined : rules[index];
  return {
    amount: steps.at(-1)?.amount ?? '',
    channel: facts.channel ?? '',
    unit,
    rules_of,
    rule:
      index === undefined || rule === undefined
        ? null
        : { index, when: rule.when ?? {}, price: sixPlaces(rule.price) },
    facts: presentFacts(reckoning, hold),
    quantity:
      quantity === undefined
        ? null
        : {
            value: decimalOf(quantity),
            unit: unitWords(unit),
            source: measured,
            ...defined({ seconds: reckoning.seconds, input_seconds: reckoning.input_seconds }),
          },
    steps: steps.map((step) => ({
      kind: step.kind,
      text: wordsOf(step, unit, currency),
      amount: step.amount,
    })),
  };
}

const factNames = [...textFacts, ...flagFacts, 'duration'] as const;

type PresentedFact = z.output<typeof reckoningSchema>['facts'][number];

function presentFacts({ facts, sources }: Reckoning, hold: Reckoning | undefined): PresentedFact[] {
  return factNames
    .filter((name) => name !== 'channel' && Object.hasOwn(facts, name))
    .map((name) => ({
      name,
      value: facts[name] ?? null,
      source: sources[name] ?? (hold?.sources[name] === 'default' ? 'default' : 'request'),
    }));
}

function wordsOf(step: WrittenStep, unit: PriceUnit, currency: string): string {
  switch (step.kind) {
    case 'price':
      return `${step.price} ${currency} × ${decimalOf(step.quantity)} ${unitWords(unit)}, rounded half up to six places`;
    case 'minimum':
      return `at least ${step.minimum} ${currency}, the minimum`;
    case 'multiplier':
      return `× ${step.multiplier}, the multiplier of holds, rounded half up`;
    case 'held':
      return 'what was held: nothing is known that could be priced';
    case 'share':
      return `the share that arrived, ${step.quantity} of the images, rounded half up`;
    case 'limit':
      return `at most ${step.limit} ${currency}, what was held: another job took the place of a failed one`;
  }
}

/** `12500/1000` → `12.5`: exact, because every denominator of a quantity is a power of ten. */
function decimalOf(quantity: string): string {
  const [numerator = '', denominator = ''] = quantity.split('/');
  const places = denominator.length - 1;
  const digits = numerator.padStart(places + 1, '0');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return `${digits.slice(0, digits.length - places)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `12.5` → `12.500000` */
export function sixPlaces(decimal: string): string {
  return formatMicros(parseMicros(decimal) ?? 0n);
}
