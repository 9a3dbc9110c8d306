/**
 * Terminals and pages interpret these characters instead of displaying them, which can erase, reorder or hide the
 * surrounding text.
 */

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const everyUnprintable = new RegExp(unprintable, 'gu');

export const mustBePlain = 'must not contain control or format characters';

export function isPlain(text: string): boolean {
  return !unprintable.test(text);
}

export function plainText(text: string, max: number): string {
  // Cut the text first to limit the work. Replacing characters never makes it longer.
  const line = text
    .slice(0, 4 * max)
    .replace(everyUnprintable, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  if (line.length <= max) return line;
  // The cut may have split a surrogate pair.
  return `${line
    .slice(0, max - 1)
    .replace(/\p{Cs}$/u, '')
    .trimEnd()}…`;
}

/** Escapes unprintable characters as JSON does, for example as `\u001b`. */
export function escaped(text: string, { keepLines }: { readonly keepLines: boolean }): string {
  return text.replace(everyUnprintable, (character) =>
    keepLines && character === '\n' ? character : character.split('').map(escapedUnit).join(''),
  );
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const tokenPattern = /^[\w.:/~@+=,-]+$/;

export function isToken(text: string, max: number): boolean {
  return text.length <= max && tokenPattern.test(text);
}

export const idCharactersMax = 256;
