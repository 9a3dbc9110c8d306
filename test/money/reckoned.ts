import { divideHalfUp, formatMicros, microsPerUnit, parseMicros } from '../../src/money/money.ts';
import { formatDecimal, parseDecimal, shifted } from '../../src/money/decimal.ts';
import type { Reckoning, WrittenLine, WrittenStep } from '../../src/money/reckoning.ts';

export function reckoned({ lines, steps }: Pick<Reckoning, 'lines' | 'steps'>): string {
  let amount = divideHalfUp(
    lines.reduce((sum, line) => sum + exactOf(line), 0n),
    exactPerMicro,
  );
  for (const step of steps) {
    amount = after(step, amount);
    if (formatMicros(amount) !== step.amount)
      throw new Error(`${JSON.stringify(step)}, and it is ${formatMicros(amount)}`);
  }
  return formatMicros(amount);
}

const exactPerMicro = 1_000_000n;

function exactOf({ price, quantity, free = '0/1', amount }: WrittenLine): bigint {
  const [counted, unpaid] = [quantity, free].map((text) => text.split('/').map(BigInt));
  const [numerator = 0n, denominator = 1n] = counted ?? [];
  const [none = 0n, parts = 1n] = unpaid ?? [];
  const paid = numerator * parts - none * denominator;
  const exact = (micros(price) * paid * exactPerMicro) / (denominator * parts);
  const written = formatDecimal(shifted(12, { digits: exact, places: 0 }));
  if (parseDecimal(amount) === undefined || written !== amount)
    throw new Error(`${amount} is written, and it is ${written}`);
  return exact;
}

function after(step: WrittenStep, amount: bigint): bigint {
  switch (step.kind) {
    case 'sum':
      return amount;
    case 'minimum':
      return amount > micros(step.minimum) ? amount : micros(step.minimum);
    case 'factor':
      return divideHalfUp(amount * micros(step.factor), microsPerUnit);
    case 'multiplier':
      return divideHalfUp(amount * micros(step.multiplier), microsPerUnit);
    case 'held':
    case 'least':
      return micros(step.amount);
    case 'share':
      return share(amount, step.quantity);
    case 'limit':
      return amount < micros(step.limit) ? amount : micros(step.limit);
  }
}

function share(amount: bigint, quantity: string): bigint {
  const [numerator = '', denominator = ''] = quantity.split('/');
  return divideHalfUp(amount * BigInt(numerator), BigInt(denominator));
}

function micros(text: string): bigint {
  const amount = parseMicros(text);
  if (amount === undefined) throw new Error(`not an amount: ${text}`);
  return amount;
}
