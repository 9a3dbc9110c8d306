import { useLayoutEffect, useState } from '../shared/preact.js';

/**
 * For example, `#/tasks/task_1?a=b` becomes `{ path: ['tasks', 'task_1'], query }`.
 *
 * @typedef {{ path: readonly string[], query: URLSearchParams }} Place
 */

/** @returns {Place} */
function currentPlace() {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(readPart), query: new URLSearchParams(query) };
}

/** @param {string} part */
function readPart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function usePlace() {
  const [place, setPlace] = useState(currentPlace);
  useLayoutEffect(() => {
    const onChange = () => setPlace(currentPlace());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return place;
}

/**
 * @param {readonly string[]} path
 * @param {Record<string, string | undefined>} [query]
 */
export function linkTo(path, query = {}) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') given.append(name, value);
  const search = given.size === 0 ? '' : `?${given.toString()}`;
  return `#/${path.map(encodeURIComponent).join('/')}${search}`;
}

let lastList = linkTo(['tasks']);

export const backToTasks = () => lastList;

/** @param {Place} place */
export function keepList({ path, query }) {
  lastList = linkTo(path, { ...Object.fromEntries(query), focus: undefined });
}

/** @param {string} link */
export function goTo(link) {
  location.hash = link;
}

/**
 * @param {Place} place
 * @param {Record<string, string | undefined>} change
 */
export function changeQuery({ path, query }, change) {
  const merged = { ...Object.fromEntries(query), ...change };
  history.replaceState(null, '', linkTo(path, merged));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
