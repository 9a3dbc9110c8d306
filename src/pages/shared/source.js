/**
 * The gateway's own copies are loaded from the host that served this page, even if their links name another host. They
 * are loaded through the gateway, because the page's content security policy blocks the bucket that the link would
 * redirect to.
 *
 * @param {string} url
 * @returns {{ src: string, isOurs: boolean }} `src` is empty unless the URL is http or https.
 */
export function sourceOf(url) {
  if (!URL.canParse(url)) return { src: '', isOurs: false };
  const { protocol, pathname, search, searchParams } = new URL(url);
  const [, own = ''] = /\/(media\/.*)$/.exec(pathname) ?? [];
  if (protocol !== 'https:' && protocol !== 'http:') return { src: '', isOurs: false };
  const isOurs = own !== '' && searchParams.has('sig');
  return { src: isOurs ? `${own}${search}&via=gateway` : url, isOurs };
}
