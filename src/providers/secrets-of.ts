import type { ProviderContext } from './provider.ts';

/** Shorter secrets could be ordinary words, so they are not redacted. */
const secretCharactersMin = 6;

/** These secrets are part of the request, so they must be redacted from the upstream's responses. */
export function secretsOf(context: ProviderContext): readonly string[] {
  const { apiKey, callbackSecret = '' } = context.credential;
  const callbackUrl =
    'callbackUrl' in context && typeof context.callbackUrl === 'string' ? context.callbackUrl : '';
  // A credential can be a pair, and an upstream may repeat only one half of it.
  const all = [apiKey, ...apiKey.split(/[:\s,;]+/), callbackSecret, callbackUrl];
  return all.filter((secret) => secret.length >= secretCharactersMin);
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
}
