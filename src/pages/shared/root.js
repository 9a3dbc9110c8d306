/** The gateway's URL, with a trailing slash. It may have a path, because a proxy can serve the gateway under one. */
export const root = new URL('../../../', import.meta.url).href;
