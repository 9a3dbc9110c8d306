import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { formatMicros, parseMicros } from '../../money/money.ts';
import { flagFacts, textFacts } from '../../money/price.ts';
import type { Price, PriceFacts } from '../../money/price.ts';
import { measures, measureWords } from '../../money/measures.ts';
import { countSources, factSources } from '../../money/reckoning.ts';
import type { Reckoning, WrittenLine, WrittenStep } from '../../money/reckoning.ts';

const factValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const stepSchema = z.object({
  kind: z.enum(['sum', 'minimum', 'multiplier', 'held', 'least', 'share', 'limit']),
  text: z.string(),
  amount: z.string().meta({ description: 'What the computation has come to with this step.' }),
});

const lineSchema = z.object({
  index: z.int().meta({ description: 'Into the lines of the price.' }),
  measure: z.enum(measures),
  price: z.string().meta({ description: 'Of one of the measure.' }),
  when: z.record(z.string(), z.unknown()),
  quantity: z.string().meta({ description: 'Decimal text, in the measure.' }),
  free: z.string().optional().meta({ description: 'What of the quantity costs nothing.' }),
  source: z.enum(countSources).meta({
    description:
      '`request`: counted from it. `default`, `open`: as of facts. `formula`: derived from the resolution, ratio and length of an output. `measured`: from the file itself. `upstream`: reported. `assumed`: nobody knows it; the most that is possible is held, and nothing is charged.',
  }),
  of: z.record(z.string(), factValue).optional().meta({
    description: 'Of images that differ: what they are.',
  }),
  text: z.string(),
  amount: z.string().meta({ description: 'Exact: only the sum is rounded.' }),
});

export const reckoningSchema = z
  .object({
    amount: z.string(),
    channel: z.string(),
    rules_of: z.enum(['model', 'channel']).meta({
      description: 'Whose price: the model’s, or the one that the channel has of its own.',
    }),
    facts: z
      .array(z.object({ name: z.string(), value: factValue, source: z.enum(['request', ...factSources]) }))
      .meta({
        description:
          'What the lines could test. `default`: the model’s entry names it. `open`: the request leaves it open, and it is assumed as dear as it can be. `upstream`: reported. `measured`: from the stored result. Seconds for `duration`.',
      }),
    seconds: z.number().optional().meta({ description: 'Of the output that it is for.' }),
    input_seconds: z.number().optional().meta({
      description:
        'Of the videos that were given, as measured. Absent: nothing is priced by it, or the most that may be given is assumed.',
    }),
    lines: z.array(lineSchema).meta({
      description:
        'Of each measure the first line whose `when` holds, times what was counted; their sum is the first step. Empty: nothing could be priced.',
    }),
    steps: z.array(stepSchema).meta({ description: 'Each begins with the amount of the one before.' }),
  })
  .meta({ id: 'Reckoning' });

export interface ReckoningContext {
  readonly currency: string;
  /** The lines of the price that the amount was computed with. */
  readonly lines: Price['lines'];
  /** Of the hold, for a charge: what the model's entry has named. */
  readonly hold?: Reckoning | undefined;
}

/** How an amount comes about, for people. Nothing is computed here. */
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
      return 'the lines together, rounded half up to six places';
    case 'minimum':
      return `at least ${step.minimum} ${currency}, the minimum`;
    case 'multiplier':
      return `× ${step.multiplier}, the multiplier of holds, rounded half up`;
    case 'held':
      return 'what was held: nothing is known that could be priced';
    case 'least':
      return 'the least that the request can come to: nothing is known that could be priced';
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
