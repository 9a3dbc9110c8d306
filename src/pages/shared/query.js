/**
 * @param {string} path
 * @param {Record<string, string | number | undefined>} query
 */
export function withQuery(path, query) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') given.append(name, String(value));
  return given.size === 0 ? path : `${path}?${given.toString()}`;
}
