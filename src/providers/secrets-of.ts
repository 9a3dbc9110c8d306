import type { ProviderContext } from './provider.ts';

/** Shorter ones are words that anybody uses. */
const secretCharactersMin = 6;

/** What a request to an upstream was made with, and what no upstream's answer may carry further. */
export function secretsOf(context: ProviderContext): readonly string[] {
  const { apiKey, callbackSecret = '' } = context.credential;
  const callbackUrl =
    'callbackUrl' in context && typeof context.callbackUrl === 'string' ? context.callbackUrl : '';
  // A credential may be a pair, of which an upstream repeats one half.
  const all = [apiKey, ...apiKey.split(/[:\s,;]+/), callbackSecret, callbackUrl];
  return all.filter((secret) => secret.length >= secretCharactersMin);
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
}
