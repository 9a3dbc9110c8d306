import { renderBesideGuides } from '../pages/guides.ts';
import { Markup, nothing } from './markup.ts';

/** Renders Markdown text from the document. */
export function prose(text: string | undefined): Markup {
  return text === undefined ? nothing : new Markup(renderBesideGuides(text));
}
