import { renderBesideGuides } from '../pages/guides.ts';
import { Markup, nothing } from './markup.ts';

/** Renders a text of the document, which is Markdown. */
export function prose(text: string | undefined): Markup {
  return text === undefined ? nothing : new Markup(renderBesideGuides(text));
}
