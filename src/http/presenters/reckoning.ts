import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { heldBasis, readHoldReckoning } from '../../money/ledger-basis.ts';
import { sixPlaces } from '../../money/money.ts';
import { flagFacts, priceAt, textFacts, type Price, type PriceFacts } from '../../money/price.ts';
import { measures, measureWords } from '../../money/measures.ts';
import { countSources, factSources } from '../../money/reckoning.ts';
import type { Reckoning, WrittenLine, WrittenStep } from '../../money/reckoning.ts';

const factValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const stepSchema = z.object({
  kind: z.enum(['sum', 'minimum', 'factor', 'multiplier', 'held', 'least', 'share', 'limit']),
  text: z.string(),
  amount: z.string().meta({ description: 'The amount after this step.' }),
});

const lineSchema = z.object({
  index: z.int().meta({ description: 'Index into the price lines.' }),
  measure: z.enum(measures),
  price: z.string().meta({ description: 'The price per unit of the measure.' }),
  when: z.record(z.string(), z.unknown()),
  quantity: z.string().meta({ description: 'The quantity in units of the measure, as a decimal string.' }),
  free: z.string().optional().meta({ description: 'The free part of the quantity.' }),
  source: z.enum(countSources).meta({
    description:
      '`request`: counted in the request. `default`, `open`: same meaning as in `facts`. `formula`: calculated from the resolution, ratio and length of an output. `measured`: measured from the result file or an input video. `upstream`: reported by the upstream. `assumed`: the count is unknown, so the highest possible count is held, and nothing is charged for it.',
  }),
  of: z.record(z.string(), factValue).optional().meta({
    description: 'The facts about this group of images. Absent if all images are alike.',
  }),
  text: z.string(),
  amount: z.string().meta({ description: 'The unrounded amount. Only the sum is rounded.' }),
});

export const reckoningSchema = z
  .object({
    amount: z.string(),
    channel: z.string(),
    rules_of: z.enum(['model', 'channel']).meta({
      description: 'Whether the price belongs to the model or to the channel.',
    }),
    facts: z
      .array(z.object({ name: z.string(), value: factValue, source: z.enum(['request', ...factSources]) }))
      .meta({
        description:
          'The facts that the price lines can test, with their sources. `default`: the default of the model. `open`: the request leaves the fact open, so the most expensive value is assumed. `upstream`: reported by the upstream. `measured`: read from the stored result. `duration` is in seconds.',
      }),
    seconds: z.number().optional().meta({ description: 'The length of the output.' }),
    input_seconds: z.number().optional().meta({
      description:
        'The measured length of the input videos. Absent if no price depends on it or if it is unknown. If the length is unknown, the maximum is held, and nothing is charged for it.',
    }),
    lines: z.array(lineSchema).meta({
      description:
        'For each measure, the first line whose `when` matches, multiplied by the quantity. The sum of these lines is the first step. Empty if nothing could be priced.',
    }),
    steps: z.array(stepSchema).meta({ description: 'Each step starts from the previous step’s amount.' }),
  })
  .meta({ id: 'Reckoning' });

export interface ReckoningContext {
  readonly currency: string;
  readonly lines: Price['lines'];
  /**
   * The calculation of the hold, which shows which facts came from the model's configuration. Set only for a charge.
   */
  readonly hold?: Reckoning | undefined;
}

export function presentReckoning(
  reckoning: Reckoning,
  { currency, lines, hold }: ReckoningContext,
): z.output<typeof reckoningSchema> {
  const { rules_of, facts, seconds, input_seconds, steps } = reckoning;
  return {
    amount: steps.at(-1)?.amount ?? '',
    channel: facts.channel ?? '',
    rules_of,
    facts: presentFacts(reckoning, hold),
    ...defined({ seconds, input_seconds }),
    lines: reckoning.lines.map((line) => presentLine(line, lines[line.line]?.when, currency)),
    steps: steps.map((step) => ({ kind: step.kind, text: wordsOf(step, currency), amount: step.amount })),
  };
}

export function presentWritten(
  how: Reckoning | undefined,
  { holdBasis, currency }: { readonly holdBasis: string | undefined; readonly currency: string },
): z.output<typeof reckoningSchema> | null {
  const basis = heldBasis(holdBasis);
  if (how === undefined || basis === undefined) return null;
  const { lines } = priceAt(basis, how.facts.channel ?? '');
  return presentReckoning(how, { currency, lines, hold: readHoldReckoning(holdBasis) });
}

function presentLine(line: WrittenLine, when: object = {}, currency: string): z.output<typeof lineSchema> {
  const { measure, source, amount } = line;
  const [price, quantity] = [sixPlaces(line.price), decimalOf(line.quantity)];
  const free = line.free === undefined ? undefined : decimalOf(line.free);
  const paid = free === undefined ? quantity : `(${quantity} − ${free} at no charge)`;
  return {
    index: line.line,
    measure,
    price,
    when: { ...when },
    quantity,
    ...defined({ free, of: line.of === undefined ? undefined : presentOf(line.of) }),
    source,
    text: `${price} ${currency} × ${paid} ${measureWords(measure)}`,
    amount,
  };
}

function presentOf(facts: PriceFacts): Record<string, string | number | boolean> {
  return Object.fromEntries(Object.entries(facts));
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

function wordsOf(step: WrittenStep, currency: string): string {
  switch (step.kind) {
    case 'sum':
      return 'the sum of the lines, rounded half up to six places';
    case 'minimum':
      return `at least ${step.minimum} ${currency}, the minimum`;
    case 'factor':
      return `× ${step.factor}, the account’s factor, rounded half up`;
    case 'multiplier':
      return `× ${step.multiplier}, the multiplier of holds, rounded half up`;
    case 'held':
      return 'the amount held, because none of the known facts has a price';
    case 'least':
      return 'the lowest possible charge, because no fact with a price is known';
    case 'share':
      return `the share of the images that arrived, ${step.quantity}, rounded half up`;
    case 'limit':
      return `at most ${step.limit} ${currency}, the amount held, because another job replaced a failed one`;
  }
}

/** The result is exact, because the denominator is always a power of ten. `12500/1000` becomes `12.5`. */
function decimalOf(quantity: string): string {
  const [numerator = '', denominator = ''] = quantity.split('/');
  const places = denominator.length - 1;
  const digits = numerator.padStart(places + 1, '0');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return `${digits.slice(0, digits.length - places)}${fraction === '' ? '' : `.${fraction}`}`;
}
