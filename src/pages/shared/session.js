/**
 * The token is in this tab's sessionStorage. It is lost when the tab is closed, and never appears in a cookie or a URL.
 *
 * @param {string} name
 */
export function createSession(name) {
  return {
    /** @returns {string | undefined} */
    token: () => sessionStorage.getItem(name) ?? undefined,
    /** @param {string} token */
    signIn: (token) => sessionStorage.setItem(name, token),
    signOut: () => sessionStorage.removeItem(name),
  };
}
