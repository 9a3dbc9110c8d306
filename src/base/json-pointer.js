/** @param {readonly string[]} names The names on the path, from the root. */
export function pointerTo(...names) {
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** @param {string} pointer */
export function namesOf(pointer) {
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
