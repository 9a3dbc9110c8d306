/**
 * Where two JSON values differ, one sentence part for each place. A placeholder of the record stands for any text: what it
 * hides cannot be compared.
 */
export function compareJson(recorded: unknown, today: unknown, path = ''): string[] {
  if (isHidden(recorded) || isHidden(today)) return [];
  if (isObject(recorded) && isObject(today)) {
    const names = [...new Set([...Object.keys(recorded), ...Object.keys(today)])];
    return names.flatMap((name) =>
      compareJson(recorded[name], today[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (JSON.stringify(recorded) === JSON.stringify(today)) return [];
  return [`${path === '' ? 'the whole' : path} was ${show(recorded)} and is ${show(today)}`];
}

function isHidden(value: unknown): boolean {
  return typeof value === 'string' && /\[(?:caller|key|data|text|url|id|host|path|deep|name)/.test(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

const shownCharactersMax = 120;

function show(value: unknown): string {
  if (value === undefined || value === null) return 'absent';
  const text = JSON.stringify(value);
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text;
}
