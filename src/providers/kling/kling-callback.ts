import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { readKlingJob } from './kling-answer.ts';
import type { CallbackContext, CallbackNews, UpstreamCallback } from '../provider.ts';

const envelopeSchema = z.object({ data: z.unknown() });
const ended = new Set(['succeeded', 'succeed', 'failed']);

/** The bare job of either standard; an envelope around it is accepted too. */
export function parseKlingCallback({ body }: UpstreamCallback): CallbackNews {
  const job = readKlingJob(body) ?? readKlingJob(envelopeSchema.safeParse(body).data?.data);
  return { ended: ended.has(job?.status ?? '') };
}

const ageMaxSeconds = 300;

/**
 * Standard Webhooks: HMAC-SHA256 over `<id>.<timestamp>.<body>`, one signature for each secret that is valid. Kling
 * signs once a secret exists in its console, so that where one is configured an unsigned callback is not genuine.
 */
export async function verifyKlingCallback(
  { header, raw }: UpstreamCallback,
  { credential, now }: Pick<CallbackContext, 'credential' | 'now'>,
): Promise<boolean> {
  const { callbackSecret } = credential;
  if (callbackSecret === undefined) return true;
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    header(`webhook-${name}`),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > ageMaxSeconds) return false;
  const key = Buffer.from(callbackSecret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(raw).digest();
  return signatures.split(' ').some((signature) => {
    const [version, text] = signature.split(',');
    const given = Buffer.from(text ?? '', 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
