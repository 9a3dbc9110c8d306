/**
 * Returns a random hexadecimal id. Does not use `crypto.randomUUID`, which browsers offer only on secure origins.
 *
 * @param {number} bytes
 */
export function randomId(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
