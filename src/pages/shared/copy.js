/**
 * Puts a text into the clipboard, and says what came of it. Browsers offer it on secure addresses only.
 *
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function copyText(text) {
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  return isCopied === true ? 'Copied.' : 'The browser does not allow it: select the text.';
}
