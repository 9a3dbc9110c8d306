import { describe, expect, it } from 'vitest';
import { chargeImages, chargeTask } from '../../src/money/charge.ts';
import type { Measure } from '../../src/money/measures.ts';
import { needsReview, type PriceBasis, type PriceLine } from '../../src/money/price.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';

describe('the charge of a video', () => {
  const bySecond: PriceBasis = {
    price: {
      minimum: '0',
      lines: [
        { measure: 'second', when: { resolution: ['1080p'] }, price: '0.3' },
        { measure: 'second', when: { generate_audio: true }, price: '0.2' },
        { measure: 'second', when: { resolution: ['480p'] }, price: '0.05' },
        { measure: 'second', price: '0.1' },
      ],
    },
    facts: { resolution: '720p', ratio: '16:9', duration: 5, generate_audio: false },
    most: { seconds: 5 },
    version: 'v',
  };
  const charge = (
    facts: SettleFacts,
    basis = bySecond,
    tokensOf?: (of: SettleFacts) => bigint | undefined,
  ) => {
    const { settlement, isBeyond } = chargeTask('video', {
      basis, channel: 'c', facts, held: 500_000n, tokensOf,
    }); // prettier-ignore
    return [settlement.amount, isBeyond];
  };

  it.each<[string, SettleFacts, [bigint, boolean]]>([
    ['as long as it was asked for', { durationSeconds: 5 }, [500_000n, false]],
    ['a few frames longer', { durationSeconds: 5.041 }, [504_100n, false]],
    ['shorter', { durationSeconds: 3 }, [300_000n, false]],
    ['longer than was asked for', { durationSeconds: 14 }, [1_400_000n, true]],
    ['of a dearer resolution', { durationSeconds: 5, resolution: '1080p' }, [1_500_000n, true]],
    ['of a cheaper one', { durationSeconds: 5, resolution: '480p' }, [250_000n, false]],
    [
      'of a dearer one that only we measured',
      { durationSeconds: 5, resolution: '1080p', measured: ['resolution'] },
      [500_000n, false],
    ],
    [
      'of a cheaper one that only we measured',
      { durationSeconds: 5, resolution: '480p', measured: ['resolution'] },
      [250_000n, false],
    ],
    ['with sound that was not asked for', { durationSeconds: 5, generateAudio: true }, [1_000_000n, true]],
    ['of unknown length', {}, [500_000n, false]],
  ])('%s', (_, facts, expected) => {
    expect(charge(facts)).toEqual(expected);
  });

  it('needs no decision if the operator said so, or if nothing limits the length', () => {
    const { most: _most, ...endless } = bySecond;
    const trusting = { ...bySecond, price: { ...bySecond.price, reviewAbove: 'none' } };
    expect(charge({ durationSeconds: 14 }, trusting)).toEqual([1_400_000n, false]);
    expect(charge({ durationSeconds: 14 }, endless)).toEqual([1_400_000n, false]);
  });

  it('uses the values of the request if no rule matches those of the upstream', () => {
    const lines: readonly PriceLine[] = [
      { measure: 'second', when: { resolution: ['720p'] }, price: '0.1' },
      { measure: 'second', price: '0.3' },
    ];
    const basis = { ...bySecond, price: { ...bySecond.price, lines } };
    expect(charge({ durationSeconds: 5, resolution: '1280x720' }, basis)).toEqual([500_000n, false]);
    const strict = { ...bySecond, price: { ...bySecond.price, lines: lines.slice(0, 1) } };
    expect(charge({ durationSeconds: 5, resolution: '1280x720' }, strict)).toEqual([500_000n, false]);
  });

  describe('whose resolution the request leaves open', () => {
    const { resolution: _named, ...facts } = bySecond.facts;
    const open = { ...bySecond, facts, most: { seconds: 5, resolutions: ['480p', '720p'] } };

    it.each<[string, string, [bigint, boolean]]>([
      ['one that the upstream may choose', '480p', [250_000n, false]],
      ['one that it may, and no rule knows', '720p', [500_000n, false]],
      ['one that neither knows', '1280x720', [500_000n, false]],
      ['a dearer one than all that it may', '1080p', [1_500_000n, true]],
    ])('%s', (_, resolution, expected) => {
      expect(charge({ durationSeconds: 5, resolution }, open)).toEqual(expected);
    });

    it('is at most the hold if a rule is missing for an unreported value', () => {
      const lines: readonly PriceLine[] = [
        { measure: 'second', when: { resolution: ['720p'] }, price: '0.1' },
        { measure: 'second', when: { resolution: ['1080p'] }, price: '0.101' },
      ];
      const strict = { ...open, price: { ...open.price, lines } };
      expect(charge({ durationSeconds: 5, resolution: '720p' }, strict)).toEqual([500_000n, false]);
      expect(charge({ durationSeconds: 5, resolution: '1080p' }, strict)).toEqual([505_000n, true]);
    });

    it('may be anything if the upstream’s possible choices are unknown', () => {
      const unknown = { ...open, most: { seconds: 5 } };
      expect(charge({ durationSeconds: 5, resolution: '1080p' }, unknown)).toEqual([1_500_000n, false]);
    });
  });

  it('with a length that only we measured costs no more than the request allows', () => {
    const measured = ['duration'] as const;
    expect(charge({ durationSeconds: 4, measured }, bySecond)).toEqual([400_000n, false]);
    expect(charge({ durationSeconds: 5.9, measured }, bySecond)).toEqual([500_000n, false]);
    expect(charge({ durationSeconds: 3_600, measured }, bySecond)).toEqual([500_000n, false]);
    expect(charge({ durationSeconds: 5.9 }, bySecond)).toEqual([590_000n, false]);
  });

  it('of a requested size does not change with the pixels of the file', () => {
    const lines: readonly PriceLine[] = [
      { measure: 'second', when: { size: ['1280x720'] }, price: '0.1' },
      { measure: 'second', price: '0.3' },
    ];
    const sized = {
      ...bySecond,
      facts: { ...bySecond.facts, size: '1280x720' },
      price: { ...bySecond.price, lines },
    };
    const seen = { durationSeconds: 5, size: '1280x704', measured: ['size'] } as const;
    expect(charge(seen, sized)).toEqual([500_000n, false]);
  });

  describe('with a price for the videos that were given', () => {
    const withInput = {
      ...bySecond,
      price: {
        ...bySecond.price,
        lines: [...bySecond.price.lines, { measure: 'input_second' as const, price: '0.05' }],
      },
    };
    const bounded = (source: 'measured' | 'assumed') => ({
      ...withInput,
      bounds: { input_second: { most: '9000/1000', source } },
    });

    it('includes them as measured, or as reported', () => {
      expect(charge({ durationSeconds: 5 }, bounded('measured'))).toEqual([950_000n, false]);
      expect(charge({ durationSeconds: 5, inputSeconds: 4 }, bounded('measured'))).toEqual([700_000n, false]);
      expect(charge({ durationSeconds: 5 }, bounded('assumed'))).toEqual([500_000n, false]);
    });

    it('asks an operator if more input is reported than was given', () => {
      expect(charge({ durationSeconds: 5, inputSeconds: 14 }, bounded('measured'))).toEqual([
        1_200_000n,
        true,
      ]);
    });
  });

  describe('by tokens', () => {
    const byTokens: PriceBasis = {
      ...bySecond,
      price: { minimum: '0', lines: [{ measure: 'million_tokens', price: '1' }] },
    };
    const usage = { completionTokens: 1_400_000 };

    it('asks an operator if the tokens are those of a longer video', () => {
      expect(charge({ usage, durationSeconds: 5 }, byTokens)).toEqual([1_400_000n, false]);
      expect(charge({ usage, durationSeconds: 14 }, byTokens)).toEqual([1_400_000n, true]);
    });

    it('asks an operator if the formula is applied to a longer video', () => {
      const tokensOf = ({ durationSeconds = 0 }: SettleFacts) => BigInt(durationSeconds) * 100_000n;
      expect(charge({ durationSeconds: 5 }, byTokens, tokensOf)).toEqual([500_000n, false]);
      expect(charge({ durationSeconds: 14 }, byTokens, tokensOf)).toEqual([1_400_000n, true]);
    });
  });
});

describe('the charge of images', () => {
  const basis = (facts: PriceBasis['facts'], measure: Measure = 'image'): PriceBasis => ({
    price: {
      minimum: '0',
      lines: [
        { measure, when: { size: ['2K'] }, price: '0.03' },
        { measure, when: { size: ['512x512'], quality: ['low'] }, price: '0.01' },
        { measure, when: { size: ['512x512'] }, price: '0.02' },
        { measure, when: { size: ['1024x1024'] }, price: '0.05' },
      ],
    },
    facts,
    most: { images: 4 },
    version: 'v',
  });
  const common = { channel: 'c', held: 120_000n };

  it('is based on the request, with the caller’s values', () => {
    const facts = { images: 2, size: '1024x1024' };
    expect(chargeImages({ ...common, basis: basis({ size: '2K' }), facts }).amount).toBe(60_000n);
  });
  it('is based on the result if the request left it open', () => {
    const facts = { images: 2, size: '512x512' };
    expect(chargeImages({ ...common, basis: basis({}), facts }).amount).toBe(40_000n);
    expect(
      chargeImages({ ...common, basis: basis({ size: 'auto' }), facts: { ...facts, quality: 'low' } }).amount,
    ).toBe(20_000n);
  });
  it('is a share of the hold if no rule matches the result', () => {
    const facts = { images: 1, size: '9x9' };
    expect(chargeImages({ ...common, basis: basis({}), facts })).toMatchObject({
      amount: 30_000n,
      estimated: true,
    });
  });
  it('covers no more images than were requested', () => {
    const facts = { images: 9, size: '1024x1024' };
    expect(chargeImages({ ...common, basis: basis({ size: '2K' }), facts }).amount).toBe(120_000n);
  });
  describe('that would need a decision for a task', () => {
    const asked = (reviewAbove?: string): PriceBasis => {
      const { price, ...frozen } = basis({}, 'million_tokens');
      return { ...frozen, price: { ...price, ...(reviewAbove === undefined ? {} : { reviewAbove }) } };
    };
    const facts = (millions: number) => ({
      images: 2,
      size: '1024x1024',
      usage: { completionTokens: millions * 1_000_000 },
    });
    const charge = (millions: number, reviewAbove?: string) =>
      chargeImages(
        { ...common, basis: asked(reviewAbove), facts: facts(millions) },
        ({ amount }) => !needsReview(asked(reviewAbove).price, { held: common.held, amount }),
      );

    it('is a share of the hold, because the caller is waiting', () => {
      expect(charge(7.2)).toMatchObject({ amount: 360_000n, estimated: false });
      expect(charge(7.3)).toMatchObject({ amount: 60_000n, estimated: true, lines: [] });
    });

    it('is a share from the multiple that the model names, and never if no decision would be needed', () => {
      expect(charge(7.2, '2')).toMatchObject({ amount: 60_000n, estimated: true });
      expect(charge(1_000, 'none')).toMatchObject({ amount: 50_000_000n, estimated: false });
    });
  });

  it('is based on tokens if these are the unit', () => {
    const facts = { images: 1, size: '1024x1024', usage: { completionTokens: 1_000_000 } };
    expect(chargeImages({ ...common, basis: basis({}, 'million_tokens'), facts }).amount).toBe(50_000n);
  });

  it('is a share of all of them if the count is missing or implausible', () => {
    for (const images of [undefined, 1.5, -1]) {
      const facts = images === undefined ? {} : { images };
      expect(chargeImages({ ...common, basis: basis({}), facts }).amount).toBe(120_000n);
    }
  });

  it('never asks an operator', () => {
    const facts = { images: 9, size: '1024x1024' };
    const { settlement, isBeyond } = chargeTask('image', { ...common, basis: basis({ size: '2K' }), facts });
    expect([settlement.amount, isBeyond]).toEqual([120_000n, false]);
  });
});
