/**
 * Reads a display preference stored in this browser. It must not contain a secret.
 *
 * @template Value
 * @param {string} name
 * @param {Value} otherwise used if nothing readable is stored
 * @returns {Value}
 */
export function readKept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null') ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} name @param {unknown} value */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // If the browser refuses to store the preference, it lasts only as long as the page.
  }
}
