import { escapeHtml } from '../escape-html.ts';

/** HTML that is safe to insert into a page unescaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | undefined | readonly Part[];

/** A template tag that escapes values, unless they are Markup. Undefined becomes an empty text. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((text, index) => text + textOf(parts[index])).join(''));
}

export const nothing = html``;

export function isEmpty({ text }: Markup): boolean {
  return text === '';
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escapeHtml(String(part));
}
