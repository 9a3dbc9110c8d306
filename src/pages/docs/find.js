/**
 * @typedef {'Operation' | 'Field' | 'Object' | 'Error' | 'Guide'} Kind
 * @typedef {{ kind: Kind, title: string, detail: string, href: string }} Entry
 */

/** @type {readonly Kind[]} */
const kinds = ['Operation', 'Error', 'Object', 'Guide', 'Field'];

/**
 * @param {readonly Entry[]} entries
 * @param {string} text
 * @param {number} max
 */
export function findIn(entries, text, max) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, max)
    .map(({ entry }) => entry);
}

/**
 * @param {Entry} entry
 * @param {readonly string[]} words
 */
function rankOf({ kind, title, detail }, words) {
  const [name, more] = [title.toLowerCase(), detail.toLowerCase()];
  if (!words.every((word) => name.includes(word) || more.includes(word))) return 0;
  const whole = words.join(' ');
  // Only a single word can match exactly. In a title with several words, an exact match ranks like a match at the
  // start.
  const isExact = name === whole && words.length === 1;
  const closeness = isExact
    ? 4
    : name.startsWith(whole)
      ? 3
      : words.every((word) => name.includes(word))
        ? 2
        : 1;
  return closeness * kinds.length + (kinds.length - 1 - kinds.indexOf(kind)) + 1;
}
