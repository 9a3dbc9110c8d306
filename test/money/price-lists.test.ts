import { describe, expect, it } from 'vitest';
import { chargeTask } from '../../src/money/charge.ts';
import { formatMicros } from '../../src/money/money.ts';
import { casesOf, example } from './price-cases.ts';
import { billOf, termsOf } from './price-lists.ts';

it('the example and the price lists have the same models', () => {
  expect([...termsOf.keys()].toSorted()).toEqual(example.models.map(({ id }) => id).toSorted());
});

describe.each(example.models.map((model) => [model.id, model] as const))('%s', (id, model) => {
  const cases = casesOf(model);

  it('costs what its vendor bills, and no more than the hold', () => {
    const terms = termsOf.get(id);
    if (terms === undefined) throw new Error('it has no list');
    const charged = cases.map(({ name, plan: { basis, hold, candidates }, facts }) => {
      const input = { basis, channel: candidates[0]?.channel ?? '', facts, held: hold };
      const { settlement, isBeyond } = chargeTask(model.kind, input);
      const isHeld = !isBeyond && settlement.amount <= hold;
      return `${name}: ${formatMicros(settlement.amount)}${isHeld ? '' : `, and ${formatMicros(hold)} held`}`;
    });
    expect(charged).toEqual(cases.map((one) => `${one.name}: ${formatMicros(billOf(terms, one))}`));
  });

  it('is tested with at least five video requests or two image requests', () => {
    expect(cases.length).toBeGreaterThanOrEqual(model.kind === 'video' ? 5 : 2);
  });
});
