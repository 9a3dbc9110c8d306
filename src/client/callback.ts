import type * as Types from './types.ts';

export type EndedTask = Types.SucceededVideo | Types.SucceededImage | Types.FailedTask;

const ageSecondsMax = 300;

export interface CallbackMessage {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body. Do not parse it first. */
  readonly body: string | Uint8Array;
  readonly secret: string;
  /** In Unix seconds. Defaults to the current time. */
  readonly now?: number;
}

/**
 * Returns the callback's task. Returns undefined if the signature is wrong, or if the timestamp is more than five
 * minutes off.
 */
export async function readCallback({
  headers,
  body,
  secret,
  now = Date.now() / 1000,
}: CallbackMessage): Promise<EndedTask | undefined> {
  const header = (name: string) =>
    String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '');
  const timestamp = header('webhook-timestamp');
  // Reject old messages, because an attacker could have recorded them to send them again.
  if (!(Math.abs(now - Number(timestamp)) <= ageSecondsMax)) return undefined;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const prefix = new TextEncoder().encode(`${header('webhook-id')}.${timestamp}.`);
  const signed = new Uint8Array([...prefix, ...bytes]);
  const raw = decode(secret.replace(/^whsec_/, ''));
  if (raw === undefined)
    throw new TypeError('The secret must be whsec_ followed by base64, exactly as the gateway showed it.');
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  for (const signature of header('webhook-signature').split(' ')) {
    const given = signature.startsWith('v1,') ? decode(signature.slice(3)) : undefined;
    if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed)))
      return JSON.parse(new TextDecoder().decode(bytes));
  }
  return undefined;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
