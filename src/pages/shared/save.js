/**
 * @param {import('./api.js').Api} api
 * @param {string} path
 * @param {{ name: string, type: string }} file
 */
export async function saveAnswer(api, path, { name, type }) {
  /** @type {string} */
  const text = await api.get(path);
  saveBlob(new Blob([text], { type }), name);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/**
 * @param {import('./api.js').Api} api
 * @param {string} path
 * @param {string} name without the extension
 */
export function saveCsv(api, path, name) {
  return saveAnswer(api, `${path}${path.includes('?') ? '&' : '?'}format=csv`, {
    name: `${name}.csv`,
    type: 'text/csv',
  });
}
