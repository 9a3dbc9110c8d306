import type { Middleware } from 'koa';
import { invalidParameter } from '../../../errors/errors.ts';
import type { RequestState } from '../../request-scope.ts';
import { falDialect } from './fal-dialect.ts';

const header = 'x-fal-target-url';
const queueHost = 'queue.fal.run';
/** What its addresses are with us, by their hosts. */
const places: Readonly<Record<string, string>> = { [queueHost]: '/fal', 'fal.run': '/fal/run' };

/**
 * The official client has one address for a proxy, and names the one of the service in a header. That header is read for
 * its path, and never called: `https://queue.fal.run/any/clip` is our `/fal/any/clip`.
 */
export const readFalTarget: Middleware<RequestState> = (context, next) => {
  if (context.path !== '/fal') return next();
  context.state.dialect = falDialect;
  const target = context.get(header);
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const place = url === undefined || !Object.hasOwn(places, url.host) ? undefined : places[url.host];
  if (url === undefined || place === undefined)
    throw invalidParameter(
      header,
      `The header ${header} must name an address of https://${queueHost} or https://fal.run: this gateway has no uploads and no tokens. Send media by their addresses.`,
    );
  context.url = `${place}${url.pathname}${url.search}`;
  return next();
};
