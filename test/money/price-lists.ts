import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseSize } from '../../src/base/image-sizes.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';

const price = z.string().regex(/^\d+(\.\d+)?$/);
const listSchema = z.array(
  z.strictObject({
    source: z.string(),
    read: z.string().regex(/^2026-\d\d(-\d\d)?$/),
    unit: price,
    by: z.enum(['second', 'million_tokens', 'image', 'tokens']),
    models: z.record(
      z.string(),
      z.strictObject({
        prices: z.record(z.string(), price).optional(),
        input_second: z.literal('same').optional(),
        sizes: z.record(z.string(), z.string()).optional(),
        edited: z.string().optional(),
        reports_sound: z.literal(true).optional(),
        extra: z
          .partialRecord(
            z.enum(['reference_image', 'input_image', 'megapixel']),
            z.strictObject({ price, free: z.int() }),
          )
          .optional(),
        tokens: z.partialRecord(z.enum(['output', 'text', 'image', 'cached']), price).optional(),
        guess: z.string().optional(),
      }),
    ),
  }),
);
const lists = listSchema.parse(parse(readFileSync(new URL('price-lists.yaml', import.meta.url), 'utf8')));
export type Terms = (typeof lists)[number]['models'][string] & { readonly unit: string; readonly by: string };
export const termsOf = new Map<string, Terms>(
  lists.flatMap(({ models, unit, by }) =>
    Object.entries(models).map(([id, terms]) => [id, { ...terms, unit, by }] as const),
  ),
);
export interface Rendered {
  readonly facts: SettleFacts;
  readonly words: readonly string[];
  readonly counts: Readonly<Record<'output' | 'input_second' | Extra, number>>;
}
type Extra = 'reference_image' | 'input_image' | 'megapixel';

export function classOf(size: string): string {
  const pixels = parseSize(size);
  if (pixels === undefined) return size.replace('k', 'K');
  const side = Math.sqrt(pixels.width * pixels.height) / 1024;
  return side < 1.5 ? '1K' : side < 3 ? '2K' : '4K';
}

function times(...factors: readonly string[]): bigint {
  const places = 18;
  const parts = factors.map((factor) => factor.split('.'));
  const digits = parts.map(([whole = '', rest = '']) => BigInt(whole + rest)).reduce((a, b) => a * b, 1n);
  const scale = parts.reduce((sum, [, rest = '']) => sum + rest.length, 0);
  return digits * 10n ** BigInt(places - scale);
}

function priceOf(prices: Readonly<Record<string, string>>, words: readonly string[]): string {
  const fitting = Object.keys(prices).filter((key) => key.split(' ').every((word) => words.includes(word)));
  const best = fitting.toSorted((a, b) => b.split(' ').length - a.split(' ').length)[0] ?? 'other';
  const found = prices[best];
  if (found === undefined) throw new Error(`the list names no price for ${words.join(' ')}`);
  return found;
}

export function billOf(
  { unit, by, prices = {}, tokens = {}, extra = {}, ...terms }: Terms,
  one: Rendered,
): bigint {
  const { counts, facts, words } = one;
  const output = by === 'tokens' ? (tokens.output ?? '0') : priceOf(prices, words);
  const perMillion = (count: number | undefined) => ((count ?? 0) / 1e6).toFixed(6);
  const images = by === 'image' ? counts.output : 1;
  const parts = [
    times(unit, output, counts.output.toFixed(6)),
    times(unit, output, terms.input_second === undefined ? '0' : String(counts.input_second)),
    times(tokens.text ?? '0', perMillion(facts.usage?.inputTextTokens)),
    times(tokens.image ?? '0', perMillion(facts.usage?.inputImageTokens)),
    times(tokens.cached ?? '0', perMillion(facts.usage?.cachedTokens)),
    ...(['reference_image', 'input_image', 'megapixel'] as const).map((name) => {
      const { price: each = '0', free = 0 } = extra[name] ?? {};
      const paid = Math.max(0, counts[name] - free) * (name === 'megapixel' ? images : 1);
      return times(unit, each, String(paid));
    }),
  ];
  const sum = parts.reduce((a, b) => a + b, 0n);
  const micro = 10n ** 12n;
  return (sum + micro / 2n) / micro;
}
