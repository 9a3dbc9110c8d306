/** Returns a place's JSON pointer, given the names on the path to it. @param {readonly string[]} names */
export function pointerTo(...names) {
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns the names on the path to a place. @param {string} pointer */
export function namesOf(pointer) {
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
