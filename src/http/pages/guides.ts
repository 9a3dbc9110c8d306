import { readFileSync } from 'node:fs';
import { Marked, Renderer } from 'marked';
import { escapeHtml } from '../escape-html.ts';

const guides = {
  errors: 'Errors',
  callbacks: 'Callbacks',
  money: 'Money',
  idempotency: 'Idempotency',
  dialects: 'Dialects',
} as const;

export type GuideName = keyof typeof guides;

const isGuide = (name: string): name is GuideName => Object.hasOwn(guides, name);
export const guideNames: readonly GuideName[] = Object.keys(guides).filter(isGuide);

export interface Guide {
  readonly href: string;
  readonly title: string;
  readonly headings: readonly { readonly anchor: string; readonly title: string }[];
}

export function listGuides(): readonly Guide[] {
  return guideNames.map((name) => ({
    href: `docs/${name}`,
    title: guides[name],
    headings: headingsIn(textOf(name)),
  }));
}

function headingsIn(text: string): Guide['headings'] {
  return inGuides
    .lexer(text)
    .flatMap((token) =>
      token.type === 'heading' && token['depth'] > 1
        ? [{ anchor: anchorOf(String(token['text'])), title: String(token['text']).replaceAll('`', '') }]
        : [],
    );
}

function textOf(name: GuideName): string {
  return readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
}

export function readGuides(frame: string): [string, string][] {
  return guideNames.map((name) => {
    const page = fillIn(frame, {
      title: guides[name],
      guides: guideMenu(name),
      content: renderGuide(textOf(name)),
    });
    return [`docs/${name}.html`, page];
  });
}

export function fillIn(frame: string, parts: Readonly<Record<string, string>>): string {
  return frame.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, part: string) => parts[part] ?? placeholder);
}

/** `current` is the guide being shown. If undefined, links start from the parent directory. */
export function guideMenu(current?: GuideName): string {
  const folder = current === undefined ? 'docs/' : '';
  return guideNames
    .map(
      (name) =>
        `<a href="${folder}${name}"${name === current ? ' aria-current="page"' : ''}>${guides[name]}</a>`,
    )
    .join('\n');
}

export function renderGuide(text: string): string {
  return inGuides.parse(text, { async: false });
}

export function renderBesideGuides(text: string): string {
  return besideGuides.parse(text, { async: false });
}

const inGuides = rendererFor('');
const besideGuides = rendererFor('docs/');

/** Permits links only to guides, headings and https URLs. */
function rendererFor(folder: string): Marked {
  return new Marked({
    // Do not turn a bare URL into a link, because it is part of an example.
    tokenizer: { url: () => undefined },
    renderer: {
      html: ({ text: raw }) => escapeHtml(raw),
      image: ({ text: alternative }) => escapeHtml(alternative),
      // Scrollable blocks need a tabindex to be reachable by keyboard.
      code: ({ text: program }) => `<pre tabindex="0"><code>${escapeHtml(program)}</code></pre>\n`,
      table(token) {
        const table: unknown = Renderer.prototype.table.call(this, token);
        return `<div class="table" tabindex="0" role="region" aria-label="Table">${String(table)}</div>\n`;
      },
      heading({ tokens, depth, text: title }) {
        return `<h${depth} id="${anchorOf(title)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const target = targetOf(href, folder);
        return target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`;
      },
    },
  });
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '-');
}

function targetOf(href: string, folder: string): string | undefined {
  if (/^(?:https:\/\/|#)/.test(href)) return href;
  const [, name = '', anchor = ''] = /^(?:docs\/)?([a-z-]+)\.md(#[\w-]+)?$/.exec(href) ?? [];
  return isGuide(name) ? `${folder}${name}${anchor}` : undefined;
}
