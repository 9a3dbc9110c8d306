import { readFileSync } from 'node:fs';
import { Marked, Renderer } from 'marked';
import { escapeHtml } from '../escape-html.ts';

/** Pages of docs/ for callers, by their names there, with what the page's menu calls them. */
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

/** The guides as pages, `docs/<name>.html`: `frame` with `{{title}}`, `{{guides}}` and `{{content}}` filled in. */
export function readGuides(frame: string): [string, string][] {
  return guideNames.map((name) => {
    const text = readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
    const page = fill(frame, { title: guides[name], guides: guideMenu(name), content: renderGuide(text) });
    return [`docs/${name}.html`, page];
  });
}

function fill(frame: string, parts: Readonly<Record<string, string>>): string {
  return frame.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, part: string) => parts[part] ?? placeholder);
}

/** Links to all guides; `current`: the one that is open, which is in their folder. */
export function guideMenu(current?: GuideName): string {
  const folder = current === undefined ? 'docs/' : '';
  return guideNames
    .map(
      (name) =>
        `<a href="${folder}${name}"${name === current ? ' aria-current="page"' : ''}>${guides[name]}</a>`,
    )
    .join('\n');
}

/** Markdown as HTML. What is HTML in it becomes text; a link leads to another guide, a heading, or https. */
export function renderGuide(text: string): string {
  const markdown = new Marked({
    renderer: {
      html: ({ text: raw }) => escapeHtml(raw),
      image: ({ text: alternative }) => escapeHtml(alternative),
      // What scrolls can be reached by the keyboard.
      code: ({ text: program }) => `<pre tabindex="0"><code>${escapeHtml(program)}</code></pre>\n`,
      table(token) {
        const table: unknown = Renderer.prototype.table.call(this, token);
        return `<div class="table" tabindex="0" role="region" aria-label="Table">${String(table)}</div>\n`;
      },
      heading({ tokens, depth, text: title }) {
        const id = title.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '-');
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`;
      },
    },
  });
  return markdown.parse(text, { async: false });
}

/** Undefined: a page that only the repository has. */
function targetOf(href: string): string | undefined {
  if (/^(?:https:\/\/|#)/.test(href)) return href;
  const [, name = '', anchor = ''] = /^(?:docs\/)?([a-z-]+)\.md(#[\w-]+)?$/.exec(href) ?? [];
  return isGuide(name) ? `${name}${anchor}` : undefined;
}
