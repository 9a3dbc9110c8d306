import { z } from 'zod';
import { readKlingJob } from './kling-answer.ts';
import type { CallbackNews, UpstreamCallback } from '../provider.ts';

const envelopeSchema = z.object({ data: z.unknown() });
const ended = new Set(['succeeded', 'succeed', 'failed']);

export function parseKlingCallback({ body }: UpstreamCallback): CallbackNews {
  const job = readKlingJob(body) ?? readKlingJob(envelopeSchema.safeParse(body).data?.data);
  return { ended: ended.has(job?.status ?? '') };
}
