/**
 * Replaces our name of a field with the caller's name in an error message. A message names its field at the beginning,
 * or after one of the words below. Elsewhere the same word may mean something else, as in “an image URL”.
 */
export function nameFieldInMessage(message: string, ours: string, theirs: string): string {
  return [...new Set([ours, ours.replace(/^metadata\./, '')])].reduce(
    (text, name) => text.replaceAll(mentionOf(name), (_, before: string) => `${before}${theirs}`),
    message,
  );
}

interface Issue {
  readonly param: string;
  readonly message: string;
}

export function nameFieldOf(issue: Issue, nameOf: (ours: string) => string): Issue {
  const param = nameOf(issue.param);
  return { param, message: nameFieldInMessage(issue.message, issue.param, param) };
}

function mentionOf(name: string): RegExp {
  const escaped = name.replaceAll(/[.[\]]/g, String.raw`\$&`);
  return new RegExp(
    String.raw`(^|\bparameter |\bURL in |\bspecify |\bneeds )${escaped}(?![\w[])(?!\.\w)`,
    'g',
  );
}
