/**
 * The page embeds this object for each operation. The request form is built from it.
 *
 * @typedef {{ name: string, in: string, isRequired: boolean, options: readonly (string | null)[] }} Parameter
 * @typedef {{ method: string, path: string, scheme: string, parameters: readonly Parameter[], body?: unknown, }} Tried
 */

/**
 * @param {Tried} tried
 * @param {Readonly<Record<string, string>>} values
 */
export function addressOf({ path, parameters }, values) {
  const query = new URLSearchParams();
  /** @type {Record<string, string>} */
  const headers = {};
  let address = path;
  for (const { name, in: where } of parameters) {
    const value = values[name] ?? '';
    if (where === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '' && where === 'query') query.append(name, value);
    else if (value !== '' && where === 'header') headers[name] = value;
  }
  return { path: query.size === 0 ? address : `${address}?${query.toString()}`, headers };
}

const shownCharactersMax = 100_000;

/**
 * @param {string} mediaType
 * @param {ArrayBuffer} bytes
 */
export function answerText(mediaType, bytes) {
  if (bytes.byteLength === 0) return 'No body.';
  if (!/^text\/|json/.test(mediaType)) return `${bytes.byteLength} bytes of ${mediaType}`;
  const text = new TextDecoder().decode(bytes);
  const shown = mediaType.startsWith('application/json') ? pretty(text) : text;
  return shown.length > shownCharactersMax ? `${shown.slice(0, shownCharactersMax)}…` : shown;
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
