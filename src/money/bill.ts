import {
  addAmounts,
  addDecimals,
  compareDecimals,
  formatDecimal,
  negated,
  parseDecimal,
  roundedTo,
} from './decimal.ts';

/**
 * One bill line, or the sum of several lines in the same unit. Amounts are exact decimals as text. Times are in Unix
 * milliseconds.
 */

export interface Billed {
  readonly job: string;
  readonly unit: string;
  readonly amount: string;
  readonly lines: number;
  readonly at: number;
  /** The job may have run up to this long after `at`. This is a day if the bill states only the day. */
  readonly spanMs: number;
  readonly model?: string | undefined;
}

/**
 * What the job should cost. With `upstream`, `amount` is the exact amount that the upstream reported. With `rules`, it
 * is the result of the channel's cost rules, in the gateway's currency.
 */
export interface Expected {
  readonly by: 'upstream' | 'rules';
  readonly amount: string;
  readonly unit: string;
}

export const billResults = [
  'matched',
  'amount_differs',
  'amount_unknown',
  'upstream_only',
  'ours_only',
] as const;
export type BillResult = (typeof billResults)[number];

export interface Compared {
  readonly result: Extract<BillResult, 'matched' | 'amount_differs' | 'amount_unknown'>;
  readonly expected?: string;
  readonly difference?: string;
}

const rulesPlaces = 6;

export function compareAmounts(
  { amount, unit }: Pick<Billed, 'amount' | 'unit'>,
  expected: readonly Expected[],
): Compared {
  const inUnit = expected.filter((one) => one.unit === unit);
  const best = inUnit.find(({ by }) => by === 'upstream') ?? inUnit[0];
  const [billed, due] = [amount, best?.amount ?? ''].map(parseDecimal);
  if (best === undefined || billed === undefined || due === undefined) return { result: 'amount_unknown' };
  const compared = best.by === 'rules' ? roundedTo(rulesPlaces, billed) : billed;
  const difference = formatDecimal(addDecimals(compared, negated(due)));
  return {
    result: difference === '0' ? 'matched' : 'amount_differs',
    expected: formatDecimal(due),
    difference,
  };
}

export function sumBilled(one: Billed, other: Billed): Billed {
  const [first, later] = isBefore(one, other) ? [one, other] : [other, one];
  const { model = later.model } = first;
  return {
    ...first,
    ...(model === undefined ? {} : { model }),
    amount: addAmounts(one.amount, other.amount),
    lines: one.lines + other.lines,
  };
}

function isBefore(one: Billed, other: Billed): boolean {
  if (one.at !== other.at) return one.at < other.at;
  if (one.spanMs !== other.spanMs) return one.spanMs < other.spanMs;
  return (one.model ?? '') >= (other.model ?? '');
}

export interface AmountRange {
  readonly min: string;
  readonly max: string;
}

export function widened(range: AmountRange | undefined, amount: string): AmountRange {
  if (range === undefined) return { min: amount, max: amount };
  return {
    min: compareTexts(amount, range.min) < 0 ? amount : range.min,
    max: compareTexts(amount, range.max) > 0 ? amount : range.max,
  };
}

export function isWithin({ min, max }: AmountRange, amount: string): boolean {
  return compareTexts(amount, min) >= 0 && compareTexts(amount, max) <= 0;
}

function compareTexts(one: string, other: string): number {
  const [a, b] = [one, other].map(parseDecimal);
  return a === undefined || b === undefined ? Number.NaN : compareDecimals(a, b);
}
