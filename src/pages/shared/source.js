/**
 * Returns the address from which to show a result. Our own copies are loaded from the address at which the page reached
 * this gateway, whatever name their links use. The gateway itself serves them, because the page may not show anything
 * from the bucket that a link redirects to.
 *
 * @param {string} url
 * @returns {{ src: string, isOurs: boolean }} `src` is empty for anything but a web address.
 */
export function sourceOf(url) {
  if (!URL.canParse(url)) return { src: '', isOurs: false };
  const { protocol, pathname, search, searchParams } = new URL(url);
  const [, own = ''] = /\/(media\/.*)$/.exec(pathname) ?? [];
  if (protocol !== 'https:' && protocol !== 'http:') return { src: '', isOurs: false };
  const isOurs = own !== '' && searchParams.has('sig');
  return { src: isOurs ? `${own}${search}&via=gateway` : url, isOurs };
}
