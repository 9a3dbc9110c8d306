import { z } from 'zod';
import { readKlingJob } from './kling-answer.ts';
import { isStandardWebhook } from '../shared/standard-webhooks.ts';
import type { CallbackContext, CallbackNews, UpstreamCallback } from '../provider.ts';

const envelopeSchema = z.object({ data: z.unknown() });
const ended = new Set(['succeeded', 'succeed', 'failed']);

/** The bare job of either standard; an envelope around it is accepted too. */
export function parseKlingCallback({ body }: UpstreamCallback): CallbackNews {
  const job = readKlingJob(body) ?? readKlingJob(envelopeSchema.safeParse(body).data?.data);
  return { ended: ended.has(job?.status ?? '') };
}

/** Kling signs once a secret exists in its console, so that where one is configured an unsigned callback is not genuine. */
export async function verifyKlingCallback(
  callback: UpstreamCallback,
  { credential, now }: Pick<CallbackContext, 'credential' | 'now'>,
): Promise<boolean> {
  const { callbackSecret } = credential;
  return callbackSecret === undefined || isStandardWebhook(callback, callbackSecret, now);
}
