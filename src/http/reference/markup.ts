import { escapeHtml, escapeText } from '../escape-html.ts';

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | undefined | readonly Part[];

/**
 * Escapes all values except Markup. Undefined becomes an empty string. Indentation in the template is removed, because
 * it would be 5% of the compressed page.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let isInTag = false;
  const pieces = strings.map((text, index) => {
    if (/[<>]/.test(text)) isInTag = text.lastIndexOf('<') > text.lastIndexOf('>');
    return text.replaceAll(/\n\s+/g, '\n') + textOf(parts[index], isInTag ? escapeHtml : escapeText);
  });
  return new Markup(pieces.join(''));
}

export const nothing = html``;

export function isEmpty({ text }: Markup): boolean {
  return text === '';
}

function textOf(part: Part, escape: (text: string) => string): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map((one) => textOf(one, escape)).join('') : escape(String(part));
}
