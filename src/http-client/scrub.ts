import { plainText } from '../base/plain-text.ts';

const scrubbedCharactersMax = 500;
/** Texts are truncated before the patterns run, to limit the time they take. */
const inputCharactersMax = 4_000;

const topLevelDomains =
  'com|net|org|io|ai|cn|dev|app|cloud|co|eu|us|uk|de|fr|jp|kr|sg|hk|tw|in|ru|info|biz|xyz|tech|site|online|run|sh|me|tv|' +
  'internal|local|localhost|svc|lan|test|example|invalid';

/** The order matters: a text must be replaced before a later pattern could match part of it. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/data:[\w.+-]*\/?[\w.+-]*;base64,[A-Za-z0-9+/=_-]*/gi, '[data]'],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>`)\]}]+/gi, '[url]'],
  [/\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*/g, '[key]'],
  [/\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '[key]'],
  [/\b(?:token|key)\s+(?=[A-Za-z._-]*\d)[A-Za-z0-9._~+/=-]{8,}/gi, '[key]'],
  [
    /\b(?:api[-_ ]?key|authorization|access[-_ ]?token|secret|password)["']?\s*[:=]\s*["']?[^\s"',;]+/gi,
    '[key]',
  ],
  [/\b(?:sk|pk|rk|ak|whsec|key|r8|ghp|akia|ltai)[-_*][A-Za-z0-9_*.-]{6,}/gi, '[key]'],
  [
    /\(?\b(?:request|req|trace|log)[-_ ]?id["']?\s*[:=]?\s*["']?[A-Za-z0-9._-]*\d[A-Za-z0-9._-]*\)?/gi,
    '[id]',
  ],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '[id]'],
  [/\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d+)?/gi, '[host]'],
  // Abbreviated IPv6 addresses: ::1, fe80::1%eth0, ::ffff:10.0.0.1, 2001:db8::
  [/(?<![\w:.])(?=[:.]*[0-9a-f])[0-9a-f:]*::[0-9a-f:.]*(?:%\w+)?(?<![.])(?!\w)/gi, '[host]'],
  [/\b(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{0,4}\b/gi, '[host]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '[host]'],
  [new RegExp(`\\b(?:[a-z0-9_-]+\\.)+(?:${topLevelDomains})\\b(?::\\d+)?(?:/[^\\s"'<>]*)?`, 'gi'), '[host]'],
  [/\blocalhost(?::\d+)?\b/gi, '[host]'],
  // File paths with at least two names, with one name and an extension, or with a drive letter.
  [/(?<![\w./-])(?:~|\.{1,2})?(?:\/[\w.@+-]+){2,}\/?(?<!\.)/g, '[path]'],
  [/(?<![\w./-])(?:~|\.{1,2})?\/[\w@+-]+\.[a-z]\w{0,4}\b/gi, '[path]'],
  [/\b[a-z]:\\[^\s"'<>|]+/gi, '[path]'],
  // Base64 and hexadecimal data can be recognised by length and by a mix of characters that does not occur in
  // sentences.
  [/(?<![\w+/=])(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z])[A-Za-z0-9+/_-]{40,}={0,2}/g, '[data]'],
  [/(?<![\w-])(?=(?:[A-Za-z_-]*\d){4})[A-Za-z0-9_-]{16,}(?![\w-])/g, '[id]'],
  [/\b\d{12,}\b/g, '[id]'],
];

/**
 * Prepares an upstream's message for a caller. Removes keys, hosts, URLs, request ids, long ids and base64, and returns
 * one line of at most 500 characters. Logs contain no upstream messages at all, so do not use this as a filter for
 * logs.
 */
export function scrub(text: string): string {
  const line = plainText(text, inputCharactersMax);
  const clean = patterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), line);
  return plainText(clean, scrubbedCharactersMax);
}
