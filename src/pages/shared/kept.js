/**
 * Preferences are stored in this browser. Never store a secret there.
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
    // Without storage, the preference is lost when the page is closed.
  }
}
