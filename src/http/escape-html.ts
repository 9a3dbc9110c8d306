const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element's content, where quotes need no escaping. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => entities[character] ?? '');
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
