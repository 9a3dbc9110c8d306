import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { falBody, outputOf, stateOf, type FalJob } from './fal-task.ts';

/** fal signs callbacks with Ed25519, and sends one only when a job has finished. */

const publicKey = 'ldtTgQ2kyewfzw4jYfaLOwXXHlQiMTJqHxSf-mTJsV8';
const privateHalf = 'ZldplyCA6jfMLUmz1ZcLjpcCeVlmxP0OA1C_dyaRU_A';
const privateKey = createPrivateKey({
  key: { kty: 'OKP', crv: 'Ed25519', d: privateHalf, x: publicKey },
  format: 'jwk',
});
const retiredKey = 'u9xTgQ2kyewfzw4jYfaLOwXXHlQiMTJqHxSf-mTJsV8';

export const keySet = {
  keys: [retiredKey, publicKey].map((x) => ({ kty: 'OKP', crv: 'Ed25519', x, use: 'sig' })),
};

export function webhookBody(job: FalJob): unknown {
  const { isEnded, since, error } = stateOf(job);
  if (!isEnded) return undefined;
  const base = { request_id: job.task.id, gateway_request_id: randomUUID() };
  if (error !== undefined)
    return {
      ...base,
      status: 'ERROR',
      error: `Unexpected status code: ${error.status}`,
      payload: falBody(error),
    };
  if (!job.faults.has('docs-shape')) return { ...base, status: 'OK', payload: outputOf(job, since) };
  // Simulates a payload that cannot be serialised, so that the receiver must fetch the result.
  return {
    ...base,
    status: 'OK',
    payload: null,
    payload_error: 'Response payload is not JSON serializable.',
  };
}

/** Uses the real time instead of the simulated one, because the receiver compares the timestamp with its own clock. */
export function signWebhook(body: string, { id }: { readonly id: string }): Record<string, string> {
  const [user, timestamp] = ['simulated-user', String(Math.floor(Date.now() / 1000))];
  const digest = createHash('sha256').update(body).digest('hex');
  const signature = sign(null, Buffer.from([id, user, timestamp, digest].join('\n')), privateKey);
  return {
    'x-fal-webhook-request-id': id,
    'x-fal-webhook-user-id': user,
    'x-fal-webhook-timestamp': timestamp,
    'x-fal-webhook-signature': signature.toString('hex'),
  };
}
