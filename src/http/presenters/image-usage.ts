import { z } from 'zod';
import { isRecord } from '../../base/is-record.ts';
import type { SettleFacts, Usage } from '../../money/settle-facts.ts';

/** The form that OpenAI's clients expect. Counts that the upstream did not report are 0. */
export const imageUsageSchema = z
  .object({
    input_tokens: z.number(),
    input_tokens_details: z.object({ image_tokens: z.number(), text_tokens: z.number() }),
    output_tokens: z.number(),
    output_tokens_details: z.object({ image_tokens: z.number(), text_tokens: z.number() }),
    total_tokens: z.number(),
  })
  .loose()
  .meta({
    id: 'ImageUsage',
    description:
      'Token counts, or 0 if the upstream reports none. Any other counts are passed through from the upstream.',
  });

export function presentImageUsage(
  { usage = {} }: Pick<SettleFacts, 'usage'>,
  reported?: unknown,
): z.output<typeof imageUsageSchema> {
  const { inputImageTokens: image = 0, textTokens: text = 0, totalTokens } = usage;
  const known = inputTokens(usage);
  const rendered = usage.completionTokens ?? Math.max((totalTokens ?? 0) - known - text, 0);
  const output = rendered + text;
  const input = Math.max(known, (totalTokens ?? 0) - output);
  return {
    ...otherCounts(reported),
    input_tokens: input,
    input_tokens_details: { image_tokens: image, text_tokens: input - image },
    output_tokens: output,
    output_tokens_details: { image_tokens: rendered, text_tokens: text },
    total_tokens: input + output,
  };
}

export const chatUsageSchema = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
});

export function presentChatUsage(facts: Pick<SettleFacts, 'usage'>): z.output<typeof chatUsageSchema> {
  const { input_tokens, output_tokens, total_tokens } = presentImageUsage(facts);
  return { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens };
}

function inputTokens(usage: Usage): number {
  const { inputTextTokens, inputImageTokens, inputAudioTokens, inputVideoTokens, cachedTokens } = usage;
  const counts = [inputTextTokens, inputImageTokens, inputAudioTokens, inputVideoTokens, cachedTokens];
  return counts.reduce<number>((sum, count = 0) => sum + count, 0);
}

/** Keeps only counts, because some upstreams also report what the operator pays. */
function otherCounts(reported: unknown): Record<string, number> {
  const fields = isRecord(reported) ? Object.entries(reported) : [];
  return Object.fromEntries(
    fields.flatMap(([name, value]) =>
      typeof value === 'number' && /_(?:tokens|images)$/.test(name) ? [[name, value] as const] : [],
    ),
  );
}
