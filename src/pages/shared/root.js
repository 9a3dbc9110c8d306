/** The gateway's address, with a trailing slash. A proxy may serve the gateway under a path. */
export const root = new URL('../../../', import.meta.url).href;
