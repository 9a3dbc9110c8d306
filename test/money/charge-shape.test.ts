import { expect, it } from 'vitest';
import { chargeShape, expectedCharge } from '../../src/money/charge-shape.ts';
import type { PriceBasis } from '../../src/money/price.ts';

const basis: PriceBasis = {
  price: { minimum: '0', lines: [{ measure: 'second', price: '0.1' }] },
  facts: { resolution: '720p', duration: 5, quality: 'high' },
  most: { seconds: 5, images: 2 },
  bounds: {
    input_image: { most: '2/1', source: 'request' },
    million_input_text_tokens: { most: '7/1000000', source: 'assumed' },
  },
  least: '500000',
  input_seconds: 3,
  version: 'one',
};
const other = (change: Partial<PriceBasis>) => chargeShape('clip', { ...basis, ...change });

it('a shape depends on the model, its prices and the parameters, but not on the prompt or the configuration', () => {
  const shape = chargeShape('clip', basis);
  expect(other({ version: 'two', least: '1', input_seconds: 4 })).toBe(shape);
  const { million_input_text_tokens: tokens = expect.fail(), ...bounds } = basis.bounds ?? {};
  expect(other({ bounds: { ...bounds, million_input_text_tokens: { ...tokens, most: '9/1000000' } } })).toBe(
    shape,
  );
  expect(chargeShape('clip', JSON.parse(JSON.stringify(basis)))).toBe(shape);
  const others = [
    chargeShape('plain', basis),
    other({ price: { minimum: '0', lines: [{ measure: 'second', price: '0.2' }] } }),
    other({ channels: { ark: basis.price } }),
    other({ facts: { ...basis.facts, resolution: '1080p' } }),
    other({ facts: { ...basis.facts, duration: 6 } }),
    other({ facts: { ...basis.facts, quality: 'low' } }),
    other({ most: { ...basis.most, images: 1 } }),
    other({ bounds: { ...basis.bounds, input_image: { most: '1/1', source: 'request' } } }),
  ];
  expect(new Set([shape, ...others]).size).toBe(9);
});

it('the expected charge is the median of at least three', () => {
  expect(expectedCharge([])).toBeUndefined();
  expect(expectedCharge([5n, 5n])).toBeUndefined();
  expect(expectedCharge([900n, 1n, 5n])).toBe(5n);
  expect(expectedCharge([4n, 900n, 1n, 5n])).toBe(5n);
  expect(expectedCharge([4n, 10n ** 18n, 1n, 8n])).toBe(6n);
});
