import { divideHalfUp, formatMicros, microsPerUnit, parseMicros } from '../../src/money/money.ts';
import type { WrittenStep } from '../../src/money/reckoning.ts';

/** What written steps come to, by their own numbers alone; throws where one says another amount. */
export function reckoned(steps: readonly WrittenStep[]): string {
  let amount = 0n;
  for (const step of steps) {
    amount = after(step, amount);
    if (formatMicros(amount) !== step.amount)
      throw new Error(`${JSON.stringify(step)}, and it is ${formatMicros(amount)}`);
  }
  return formatMicros(amount);
}

function after(step: WrittenStep, amount: bigint): bigint {
  switch (step.kind) {
    case 'price':
      return share(micros(step.price), step.quantity);
    case 'minimum':
      return amount > micros(step.minimum) ? amount : micros(step.minimum);
    case 'multiplier':
      return divideHalfUp(amount * micros(step.multiplier), microsPerUnit);
    case 'held':
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
