import { z } from 'zod';

/** What `POST /admin/v1/routes/explain` says. Apart from its command, so that `--help` does not load zod. */
export const explanationSchema = z.object({
  candidates: z.array(z.object({ channel: z.string(), credential: z.string() })),
  dropped: z.array(z.object({ channel: z.string(), reason: z.string(), detail: z.string() })),
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
});
