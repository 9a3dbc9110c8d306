/** Lines and columns start at 1. Columns count UTF-16 code units. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly isCutOff: boolean;
}

const literals = ['true', 'false', 'null'];
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const unfinishedEscape = /^\\(?:u[\da-fA-F]{0,3})?$/;
const spacePattern = /[\t\n\r ]*/y;

type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd';

/**
 * Finds the position of a syntax error, because JSON.parse usually gives none in its message, and sometimes quotes the
 * text. Runs in linear time. Returns undefined if the text is valid JSON.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const at = faultAt(text);
  if (at === undefined) return undefined;
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return { line, column: at - lineStart + 1, isCutOff: at >= text.length };
}

function faultAt(text: string): number | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = skip(spacePattern, text, 0);
  for (;;) {
    const char = text[at];
    const isEnd: boolean = char === (open.at(-1) === '{' ? '}' : ']') && expected.endsWith('End');
    if (isEnd && open.length > 0) {
      open.pop();
      at += 1;
      expected = 'commaOrEnd';
    } else if ((char === '{' || char === '[') && expected.startsWith('value')) {
      open.push(char);
      at += 1;
      expected = char === '{' ? 'keyOrEnd' : 'valueOrEnd';
    } else {
      const token = readToken(text, at, expected);
      if ('fault' in token) return token.fault;
      at = token.end;
      expected = afterToken(expected, open.at(-1));
    }
    at = skip(spacePattern, text, at);
    if (open.length === 0 && expected === 'commaOrEnd') return at < text.length ? at : undefined;
  }
}

function afterToken(expected: Expected, open: '{' | '[' | undefined): Expected {
  if (expected.startsWith('key')) return 'colon';
  if (expected === 'colon') return 'value';
  if (expected === 'commaOrEnd') return open === '{' ? 'key' : 'value';
  return 'commaOrEnd';
}

type Token = { readonly end: number } | { readonly fault: number };

function readToken(text: string, at: number, expected: Expected): Token {
  if (expected === 'colon') return readWord(text, at, ':');
  if (expected === 'commaOrEnd') return readWord(text, at, ',');
  if (text[at] === '"') return readString(text, at + 1);
  if (expected.startsWith('key')) return { fault: at };
  const literal = literals.find((word) => word[0] === text[at]);
  if (literal !== undefined) return readWord(text, at, literal);
  const end = skip(numberPattern, text, at);
  return end > at ? { end } : { fault: text[at] === '-' ? at + 1 : at };
}

function readWord(text: string, at: number, word: string): Token {
  for (let index = 0; index < word.length; index += 1) {
    if (text[at + index] !== word[index]) return { fault: at + index };
  }
  return { end: at + word.length };
}

function readString(text: string, from: number): Token {
  let at = from;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '"') return { end: at + 1 };
    if (char < ' ') return { fault: at };
    if (char !== '\\') {
      at += 1;
      continue;
    }
    const end = skip(escapePattern, text, at);
    if (end === at) return { fault: unfinishedEscape.test(text.slice(at, at + 6)) ? text.length : at };
    at = end;
  }
  return { fault: text.length };
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
