import { renderBesideGuides } from '../pages/guides.ts';
import { Markup, nothing } from './markup.ts';

export function prose(text: string | undefined): Markup {
  return text === undefined ? nothing : new Markup(renderBesideGuides(text));
}
