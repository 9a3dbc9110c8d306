import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageUsageSchema, presentImageUsage } from '../../src/http/presenters/image-usage.ts';
import type { Usage } from '../../src/money/settle-facts.ts';

const count = fc.option(fc.nat(100_000), { nil: undefined });
const anyUsage = fc
  .record({
    completionTokens: count,
    totalTokens: count,
    textTokens: count,
    inputTextTokens: count,
    inputImageTokens: count,
    inputAudioTokens: count,
    inputVideoTokens: count,
    cachedTokens: count,
  } satisfies Record<keyof Usage, unknown>)
  .map((counts) => Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== undefined)) as Usage);

describe('the usage of images', () => {
  it('adds up, whatever the upstream reports', () => {
    fc.assert(
      fc.property(anyUsage, (usage) => {
        const shown = imageUsageSchema.parse(presentImageUsage({ usage }));
        const { input_tokens_details: input, output_tokens_details: output } = shown;
        expect(input.image_tokens + input.text_tokens).toBe(shown.input_tokens);
        expect(output.image_tokens + output.text_tokens).toBe(shown.output_tokens);
        expect(shown.input_tokens + shown.output_tokens).toBe(shown.total_tokens);
        expect(shown.total_tokens).toBeGreaterThanOrEqual(usage.totalTokens ?? 0);
        expect(Math.min(...Object.values(input), ...Object.values(output))).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('is zero if nothing is reported', () => {
    const none = { image_tokens: 0, text_tokens: 0 };
    expect(presentImageUsage({})).toEqual({
      input_tokens: 0,
      input_tokens_details: none,
      output_tokens: 0,
      output_tokens_details: none,
      total_tokens: 0,
    });
  });

  it("contains the upstream's other counts, but nothing of its price", () => {
    const reported = { generated_images: 2, output_tokens: 7, cost_in_usd_ticks: 4, cost: '0.1' };
    const usage = { completionTokens: 5, totalTokens: 8 };
    expect(presentImageUsage({ usage }, reported)).toMatchObject({ generated_images: 2, output_tokens: 5 });
    expect(Object.keys(presentImageUsage({ usage }, reported)).filter((name) => /cost/.test(name))).toEqual(
      [],
    );
  });
});
