/**
 * Follows RFC 8785: members are sorted by the UTF-16 code units of their names, there is no whitespace, and numbers and
 * strings are written as in ECMAScript. Undefined members are omitted. A lone surrogate, which is not valid Unicode,
 * becomes U+FFFD.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item: unknown) => canonicalJson(item)).join(',')}]`;
  const members: [string, unknown][] = Object.entries(value);
  const texts = members
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`);
  return `{${texts.join(',')}}`;
}
