/**
 * Browsers offer `crypto.randomUUID` only on secure origins, so it is not used here.
 *
 * @param {number} bytes
 */
export function randomId(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
