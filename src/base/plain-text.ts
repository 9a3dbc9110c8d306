/**
 * Text from outside, before a person reads it. Control and format characters, separators of lines and halves of
 * characters are obeyed by terminals and pages in place of being shown: they erase, reorder and hide what stands beside
 * them. Pure.
 */

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const everyUnprintable = new RegExp(unprintable, 'gu');

export const mustBePlain = 'must not contain control or format characters';

export function isPlain(text: string): boolean {
  return !unprintable.test(text);
}

/** One line of at most `max` characters, with a blank for everything that cannot be shown. */
export function plainText(text: string, max: number): string {
  // What is cut off is not looked at: blanks make no text longer.
  const line = text
    .slice(0, 4 * max)
    .replace(everyUnprintable, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  if (line.length <= max) return line;
  // A cut may part the halves of a character.
  return `${line
    .slice(0, max - 1)
    .replace(/\p{Cs}$/u, '')
    .trimEnd()}…`;
}

/** Everything that cannot be shown as `\u001b`, which is also how JSON writes it; ends of lines, if they are kept. */
export function escaped(text: string, { keepLines }: { readonly keepLines: boolean }): string {
  return text.replace(everyUnprintable, (character) =>
    keepLines && character === '\n' ? character : character.split('').map(escapedUnit).join(''),
  );
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const tokenPattern = /^[\w.:/~@+=,-]+$/;

/** An id, or a word of a machine: letters, digits and `_ . : / ~ @ + = , -`. */
export function isToken(text: string, max: number): boolean {
  return text.length <= max && tokenPattern.test(text);
}

/** Of an upstream's jobs and traces. */
export const idCharactersMax = 256;
