/** @typedef {import('./find.js').Entry} Entry */

/** @returns {Entry[]} */
export function readIndex() {
  return [
    ...elements('.operation').map(operationEntry),
    ...elements('#objects > details').map(({ id }) => objectEntry(id)),
    ...elements('.guide-contents a').map(guideEntry),
    ...elements('.fields > li[id]').map(({ id }) => fieldEntry(id)),
  ];
}

/** @param {string} selector */
function elements(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => element instanceof HTMLElement);
}

/**
 * @param {string} id
 * @returns {Entry}
 */
function objectEntry(id) {
  return { kind: 'Object', title: id, detail: '', href: `#${id}` };
}

/**
 * @param {string} id
 * @returns {Entry}
 */
function fieldEntry(id) {
  const names = id.split('.');
  const detail = `in ${names.slice(0, -1).join('.')}`;
  return { kind: 'Field', title: names.at(-1) ?? '', detail, href: `#${id}` };
}

/**
 * @param {HTMLElement} section
 * @returns {Entry}
 */
function operationEntry(section) {
  const address = section.querySelector('.address')?.textContent ?? '';
  const title = section.querySelector('h3')?.textContent ?? '';
  return { kind: 'Operation', title, detail: `${address} ${section.id}`, href: `#${section.id}` };
}

/**
 * @param {HTMLElement} link
 * @returns {Entry}
 */
function guideEntry(link) {
  const guide = link.closest('details')?.dataset['guide'] ?? '';
  const title = link.textContent;
  const kind = guide === 'Errors' && /^[a-z_]+$/.test(title) ? 'Error' : 'Guide';
  return { kind, title, detail: guide, href: link.getAttribute('href') ?? '' };
}
