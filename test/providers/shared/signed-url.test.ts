import { expect, it } from 'vitest';
import { signedUrlExpiry } from '../../../src/providers/shared/http-outcome.ts';

const at = Date.UTC(2026, 4, 14, 10, 32, 17) / 1000;

it.each([
  ['?X-Tos-Date=20260514T103217Z&X-Tos-Expires=86400', at + 86_400],
  ['?X-Amz-Expires=60&X-Amz-Date=20260514T103217Z', at + 60],
  ['?Expires=1778754737', 1_778_754_737],
  ['?sv=2024&se=2026-05-14T10:32:17Z&sig=x', at],
  ['?se=2026-05-14T10%3A32%3A17Z', at],
  ['?se=2026-99-99', undefined],
  ['?se=1', undefined],
  ['?Expires=soon', undefined],
  ['?X-Tos-Date=20260514T103217Z', undefined],
  ['', undefined],
])('a link with %s ends at %s', (query, end) => {
  expect(signedUrlExpiry(`https://files.example/a.mp4${query}`)).toBe(end);
});

it('text that is not a link has no end', () => {
  expect(signedUrlExpiry('not a link')).toBeUndefined();
});
