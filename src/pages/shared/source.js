/**
 * Where a result is shown from: our own copies are below this address, whatever name the gateway has elsewhere, and come
 * from the gateway itself, as a page may show nothing of a bucket that a link leads to.
 *
 * @param {string} url
 * @returns {{ src: string, isOurs: boolean }} `src` is empty for what is not an address of the web.
 */
export function sourceOf(url) {
  if (!URL.canParse(url)) return { src: '', isOurs: false };
  const { protocol, pathname, search, searchParams } = new URL(url);
  const [, own = ''] = /\/(media\/.*)$/.exec(pathname) ?? [];
  if (protocol !== 'https:' && protocol !== 'http:') return { src: '', isOurs: false };
  const isOurs = own !== '' && searchParams.has('sig');
  return { src: isOurs ? `${own}${search}&via=gateway` : url, isOurs };
}
