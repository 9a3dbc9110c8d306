import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../shared/signature.ts';
import type { CallbackContext, CallbackNews, UpstreamCallback } from '../provider.ts';

const newsSchema = z.object({ state: z.enum(['success', 'failed']) });

export function parseViduCallback({ body }: UpstreamCallback): CallbackNews {
  return { ended: newsSchema.safeParse(body).success };
}

const ageMaxSeconds = 300;
/** A vendor constant that is part of every signature. */
const accessKey = 'vidu';

/**
 * Checks an HMAC-SHA256 over the method, path, query, access key, date and listed headers, one per line. Its key is the
 * API key that created the job. The body is not signed. If our own URL is unknown, the signature cannot be checked, and
 * the callback only triggers a poll.
 */
export async function verifyViduCallback(
  { header, url }: Pick<UpstreamCallback, 'header' | 'url'>,
  { credential, now }: Pick<CallbackContext, 'credential' | 'now'>,
): Promise<boolean> {
  if (url === undefined) return true;
  const date = header('date') ?? '';
  const age = Math.abs(now - Date.parse(date)) / 1000;
  const names = (header('x-hmac-signed-headers') ?? '').split(';').filter((name) => name !== '');
  if (!(age <= ageMaxSeconds) || names.length === 0) return false;
  const { pathname, search } = new URL(url);
  const signed = names.map((name) => `${name}:${header(name.toLowerCase()) ?? ''}`);
  const lines = ['POST', pathname, search.slice(1), accessKey, date, ...signed];
  const text = lines.map((line) => `${line}\n`).join('');
  const expected = createHmac('sha256', credential.apiKey).update(text).digest('base64');
  return isSameSecret(header('x-hmac-signature') ?? '', expected);
}
