import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { createErrorTerms } from '../../src/store/error-words.ts';

const terms = createErrorTerms(Buffer.alloc(32, 1));

describe('the terms of an error', () => {
  it('are at most 64, for the longest words', () => {
    const words = Array.from({ length: 200 }, (_, n) => 'a'.repeat(n + 3));
    expect(terms([words.join(' ')])).toEqual(
      words
        .toReversed()
        .slice(0, 64)
        .flatMap((word) => terms([word])),
    );
  });

  it('do not depend on case and punctuation, and repeat no word', () => {
    expect(terms(['Quota: used up. QUOTA!', 'quota'])).toEqual(terms(['quota used']));
  });

  it('are found in a text that mixes scripts', () => {
    const mixed = terms(['模型kling的余额不足']);
    for (const part of ['模型', 'kling', '余额']) expect(mixed).toContain(terms([part])[0]);
  });

  it('differ under another key, and reveal no word', () => {
    const [own, other] = [terms(['walrus']), createErrorTerms(Buffer.alloc(32, 2))(['walrus'])];
    expect(own).not.toEqual(other);
    expect(own).toEqual([expect.stringMatching(/^[\w-]{8}$/)]);
  });
});
