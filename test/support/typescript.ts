/** Node arguments that load TypeScript the way the product does. Three times as fast as tsx. */
export const loadsTypeScript = [
  '--import',
  new URL('../../src/typescript.js', import.meta.url).href,
] as const;
