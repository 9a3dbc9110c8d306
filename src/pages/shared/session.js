/**
 * A token in this tab's sessionStorage: gone when the tab is closed, and never in a cookie or an address.
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
