/** The address of the gateway, with a slash at its end: a proxy may have put it below a path. */
export const root = new URL('../../../', import.meta.url).href;
