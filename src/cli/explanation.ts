import { z } from 'zod';

const candidatesSchema = z.array(z.object({ channel: z.string(), credential: z.string() }));

/** Kept in a separate module so that `--help` does not load zod. */
export const explanationSchema = z.object({
  candidates: z.array(
    z.object({ channel: z.string(), credential: z.string(), waits: z.boolean(), detail: z.string() }),
  ),
  health: z.array(z.looseObject({})),
  dropped: z.array(z.object({ channel: z.string(), reason: z.string(), detail: z.string() })),
  fallback: z
    .object({
      channels: z.array(z.string()),
      candidates: candidatesSchema,
      on: z.array(z.string()),
      allow_moderation: z.boolean(),
    })
    .optional(),
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type Explanation = z.infer<typeof explanationSchema>;
