import { createHash } from 'node:crypto';
import { scrub } from '../http-client/index.ts';
import { defined } from '../base/defined.ts';
import { markerPattern } from '../base/ids.ts';
import { imagesOf } from '../models/media-roles.ts';
import { escaped } from '../base/plain-text.ts';
import type { GenerationRequest, JsonObject, JsonValue } from '../models/request.ts';
import { withoutCallbackToken } from '../task/callback-address.ts';

/**
 * Decides what a record may keep of the JSON exchanged with an upstream. Structure, numbers, ids and machine-readable
 * words are kept. Sentences are kept only in fields that explain a failure, with secrets removed. The caller's own
 * text, keys, link query strings and encoded bytes are never kept, even if an upstream repeats them.
 */

export interface Hidden {
  readonly secrets: readonly string[];
  /**
   * Prompts, links, and texts in additional fields. If undefined, the caller's texts are unknown, and no sentence is
   * kept.
   */
  readonly texts?: readonly string[];
}

const depthMax = 12;
const itemsMax = 40;
const fieldsMax = 80;
const wordCharactersMax = 160;
const sentenceCharactersMax = 300;
/** How many characters at the beginning of a text are compared with the caller's texts. */
const comparedCharactersMax = 2_000;
/** If two texts share this many consecutive letters, one is considered to quote the other. */
const partCharacters = 16;
const shortLetters = 8;

const failureField =
  /^(?:message|msg|errors?|reason|details?|code|status|type|title|.*(?:message|msg|reason|error|failure))$/i;
const callersField =
  /prompt|caption|lyrics|transcript|narration|identifier|^(?:logs?|text|inputs?|content|query|description|user)$/i;
const linkPattern = /^[a-z][a-z0-9+.-]*:\/\//i;
const dataPattern = /^data:|^[A-Za-z0-9+/_=-]{200,}$/;

/** A `Hidden`, prepared for comparison. Whitespace, punctuation and case are ignored in the caller's texts. */
interface Veil {
  readonly secrets: readonly string[];
  readonly exact: ReadonlySet<string>;
  readonly letters: readonly string[];
  readonly sentences: boolean;
}

export function redactJson(value: unknown, hidden: Hidden): JsonValue {
  return redactValue(value, '', { veil: prepare(hidden), depth: 0 });
}

/** Redacts text that is not JSON. Keeps at most its beginning, and nothing if it came from the caller. */
export function redactText(text: string, hidden: Hidden): string {
  return redactString(text, 'message', prepare(hidden));
}

/** Removes the query, user and fragment. A URL that contains a secret is replaced entirely. */
export function redactUrl(url: string, hidden: Hidden): string {
  return holdsSecret(url, hidden) ? '[key]' : bareUrl(url);
}

export function holdsSecret(text: string, { secrets }: Pick<Hidden, 'secrets'>): boolean {
  return secrets.some((secret) => secret.length > 0 && text.includes(secret));
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

interface Place {
  readonly veil: Veil;
  readonly depth: number;
}

function redactValue(value: unknown, name: string, { veil, depth }: Place): JsonValue {
  if (typeof value === 'string') return redactString(value, name, veil);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return null;
  if (depth >= depthMax) return '[deep]';
  const place = { veil, depth: depth + 1 };
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => redactValue(item, name, place));
  // For example, the bytes of a response, or a body part that was read from a file.
  if (!isPlain(value)) return '[data]';
  const fields = Object.entries(value).slice(0, fieldsMax);
  return Object.fromEntries(
    fields.map(([field, item]) => [redactName(field, veil), redactValue(item, field, place)]),
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** All keys in use are at least this long, so shorter field names cannot contain one. */
const keyCharactersMin = 12;

/** Redacts a field name. An upstream that repeats parts of a request may use a caller's text or a key as one. */
function redactName(name: string, veil: Veil): string {
  if (name.length > 64 || /\s/.test(name) || isCallers(name, veil)) return '[name]';
  if (holdsSecret(name, veil)) return '[name]';
  return name.length >= keyCharactersMin && scrub(name).includes('[key]')
    ? '[name]'
    : escaped(name, { keepLines: false });
}

function redactString(text: string, name: string, veil: Veil): string {
  if (holdsSecret(text, veil)) return '[key]';
  if (isCallers(text, veil)) return '[caller]';
  if (dataPattern.test(text)) return '[data]';
  if (linkPattern.test(text)) return bareUrl(text);
  if (markerPattern.test(text)) return text;
  if (callersField.test(name)) return '[text]';
  if (/\s/.test(text.trim())) {
    return veil.sentences && failureField.test(name) ? scrub(text).slice(0, sentenceCharactersMax) : '[text]';
  }
  if (text.length > wordCharactersMax) return '[text]';
  return scrub(text).includes('[key]') ? '[key]' : escaped(text, { keepLines: false });
}

function bareUrl(url: string): string {
  if (!URL.canParse(url)) return '[url]';
  const { protocol, host, pathname } = new URL(url);
  return withoutCallbackToken(`${protocol}//${host}${pathname}`).slice(0, 500);
}

function prepare({ secrets, texts: known }: Hidden): Veil {
  const texts = known ?? [];
  const long = texts.filter((text) => !dataPattern.test(text.slice(0, 300)));
  return {
    secrets: secrets.filter((secret) => secret.length >= 6),
    exact: new Set(texts),
    letters: long.map(lettersOf).filter((letters) => letters !== ''),
    sentences: known !== undefined,
  };
}

/** True if the text is one of the caller's texts, contains one, or shares part of one. */
function isCallers(text: string, { exact, letters }: Veil): boolean {
  if (exact.has(text)) return true;
  if (letters.length === 0) return false;
  const own = lettersOf(text.slice(0, comparedCharactersMax));
  return letters.some((callers) =>
    callers.length < shortLetters
      ? hasWord(text, callers)
      : own.includes(callers) || sharesPart(own, callers),
  );
}

/** Matches whole words only, because a short word such as "sea" would occur inside other words too often. */
function hasWord(text: string, word: string): boolean {
  return text
    .slice(0, comparedCharactersMax)
    .split(/\s+/)
    .some((part) => lettersOf(part) === word);
}

function sharesPart(text: string, callers: string): boolean {
  for (let at = 0; at + partCharacters <= text.length; at += 1) {
    if (callers.includes(text.slice(at, at + partCharacters))) return true;
  }
  return false;
}

/** Keeps only letters and digits, so that quoting, escaping and line breaks do not matter. */
function lettersOf(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number(`0x${code}`)))
    .replace(/\\[nrt]/g, ' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

export function textsOf(request: GenerationRequest): string[] {
  const media =
    request.kind === 'video'
      ? [...imagesOf(request), ...request.videos, ...request.audios]
      : [...request.images, ...(request.mask === undefined ? [] : [request.mask])].flatMap((image) =>
          image.form === 'url' ? [image.url] : image.form === 'data' ? [image.base64] : [image.name],
        );
  const identifier = request.kind === 'video' ? request.safetyIdentifier : undefined;
  const own = [request.prompt, ...media, ...(identifier === undefined ? [] : [identifier])];
  return [...own, ...longTextsIn(request.extra)].filter((text) => text !== '');
}

/**
 * Returns sentences, links, and the values of all fields that contain text or identify a person. Other words, such as
 * `high`, are settings.
 */
function longTextsIn(value: JsonValue, name = ''): string[] {
  if (typeof value === 'string') {
    return callersField.test(name) || /\s|:\/\//.test(value) || value.length > 40 ? [value] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => longTextsIn(item, name));
  return Object.entries(value).flatMap(([field, item]) => longTextsIn(item, field));
}

/**
 * Replaces the caller's text with placeholders from which an adapter still builds the same body, such as a prompt of
 * the same length or a link of the same kind.
 */
export function redactRequest(request: GenerationRequest): GenerationRequest {
  const prompt = placeholder(request.prompt);
  const extra = redactExtra(request.extra);
  if (request.kind === 'image') {
    const images = request.images.map((_, n) => ({ form: 'url' as const, url: link(n, '') }));
    const { mask: _, ...rest } = request;
    const mask = request.mask === undefined ? {} : { mask: { form: 'url' as const, url: link(99, '') } };
    return { ...rest, prompt, images, extra, ...mask };
  }
  const { firstFrame, lastFrame, references, videos, audios, safetyIdentifier } = request;
  return {
    ...request,
    prompt,
    ...defined({
      firstFrame: firstFrame === undefined ? undefined : link(0, firstFrame),
      lastFrame: lastFrame === undefined ? undefined : link(1, lastFrame),
    }),
    references: references.map((url, n) => link(n, url)),
    videos: videos.map((url, n) => link(n, url)),
    audios: audios.map((url, n) => link(n, url)),
    extra,
    ...defined({
      safetyIdentifier: safetyIdentifier === undefined ? undefined : placeholder(safetyIdentifier),
    }),
  };
}

function placeholder(text: string): string {
  return '[caller]'.repeat(Math.ceil(text.length / 8)).slice(0, text.length);
}

function link(n: number, url: string): string {
  const data = /^data:([\w.+-]+\/[\w.+-]+)/.exec(url.slice(0, 100));
  if (data !== null) return `data:${data[1] ?? ''};base64,AAAA`;
  if (url !== '' && !linkPattern.test(url)) return placeholder(url);
  const suffix = /\.\w{1,5}(?=$|[?#])/.exec(url)?.[0] ?? '';
  return `https://media.invalid/${n}${suffix}`;
}

function redactExtra(extra: JsonObject): JsonObject {
  const texts = longTextsIn(extra);
  const redacted = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return texts.includes(value) ? placeholder(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => redacted(item));
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redacted(item)]));
  };
  return Object.fromEntries(Object.entries(extra).map(([name, item]) => [name, redacted(item)]));
}
