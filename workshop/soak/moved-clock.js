import { readFileSync } from 'node:fs';

/**
 * Moves this process's wall clock, as if somebody had set the machine's clock. The query string of this module names a
 * file. `Date` is shifted by the number of milliseconds in it. Timers and the monotonic clock are not affected.
 */

const path = decodeURIComponent(new URL(import.meta.url).search.slice(1));
const lookEveryMs = 100;
const realNow = Date.now.bind(Date);
let movedMs = read();
setInterval(() => (movedMs = read()), lookEveryMs).unref();

function read() {
  try {
    return Number(readFileSync(path, 'utf8')) || 0;
  } catch {
    return 0;
  }
}

const now = () => realNow() + movedMs;

globalThis.Date = new Proxy(Date, {
  construct(real, given, target) {
    /** @type {unknown} */
    const made = Reflect.construct(real, given.length === 0 ? [now()] : given, target);
    if (!(made instanceof real)) throw new TypeError('not a date');
    return made;
  },
  /** @returns {unknown} */
  get: (real, name) => (name === 'now' ? now : Reflect.get(real, name)),
});
