import { createHash } from 'node:crypto';
import { scrub } from '../http-client/index.ts';
import { defined } from '../base/defined.ts';
import { markerPattern } from '../base/ids.ts';
import { imagesOf } from '../models/media-roles.ts';
import { escaped } from '../base/plain-text.ts';
import type { GenerationRequest, JsonObject, JsonValue } from '../models/request.ts';

/**
 * What a record may keep of a JSON text that went to or came from an upstream: its structure, numbers, ids and words of
 * a machine. Sentences are kept, scrubbed, only in fields that say why something failed. What the caller wrote, keys,
 * queries of links and encoded bytes never are, also where an upstream repeats them.
 */

/** What must not be found in a record. */
export interface Hidden {
  /** Keys and secret addresses: wherever they occur. */
  readonly secrets: readonly string[];
  /** What the caller wrote: prompts, links, texts among the extra fields. Absent: not known, and no sentence is kept. */
  readonly texts?: readonly string[];
}

const depthMax = 12;
const itemsMax = 40;
const fieldsMax = 80;
const wordCharactersMax = 160;
const sentenceCharactersMax = 300;
/** Only the beginning of a longer text is compared with what the caller wrote. */
const comparedCharactersMax = 2_000;
/** A part of the caller's text of this many letters is recognised in another one. */
const partCharacters = 16;
const shortLetters = 8;

const failureField =
  /^(?:message|msg|errors?|reason|details?|code|status|type|title|.*(?:message|msg|reason|error|failure))$/i;
const callersField =
  /prompt|caption|lyrics|transcript|narration|identifier|^(?:logs?|text|inputs?|content|query|description|user)$/i;
const linkPattern = /^[a-z][a-z0-9+.-]*:\/\//i;
const dataPattern = /^data:|^[A-Za-z0-9+/_=-]{200,}$/;

/** A prepared `Hidden`: the caller's texts are compared without blanks, marks and case. */
interface Veil {
  readonly secrets: readonly string[];
  readonly exact: ReadonlySet<string>;
  readonly letters: readonly string[];
  readonly sentences: boolean;
}

export function redactJson(value: unknown, hidden: Hidden): JsonValue {
  return redactValue(value, '', { veil: prepare(hidden), depth: 0 });
}

/** A text that is not JSON: its beginning, if it is not the caller's. */
export function redactText(text: string, hidden: Hidden): string {
  return redactString(text, 'message', prepare(hidden));
}

/** Without its query, user and fragment; a secret that stands in its path is removed. */
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
  // Bytes of an answer, and parts of a body that lie in a file.
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

/** No key that is in use is shorter; names of fields mostly are. */
const keyCharactersMin = 12;

/** What an upstream repeats of a request, callers' texts and keys too, may become the name of a field. */
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
  return `${protocol}//${host}${pathname}`.slice(0, 500);
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

/** The caller's text, one that contains it, or one that shares a part with it. */
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

/** A short text of the caller counts where it stands as a word: "sea" is in many of a machine's words. */
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

/** What is left of a text however it was quoted, escaped or broken into lines. */
function lettersOf(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number(`0x${code}`)))
    .replace(/\\[nrt]/g, ' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Every text of a request that its caller wrote. */
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

/** Sentences and links, and whatever a field of texts or persons holds; other words, such as `high`, are settings. */
function longTextsIn(value: JsonValue, name = ''): string[] {
  if (typeof value === 'string') {
    return callersField.test(name) || /\s|:\/\//.test(value) || value.length > 40 ? [value] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => longTextsIn(item, name));
  return Object.entries(value).flatMap(([field, item]) => longTextsIn(item, field));
}

/**
 * The request with placeholders for what its caller wrote, so that an adapter still builds the same body from it: a
 * prompt of the same length, links of the same kind.
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
