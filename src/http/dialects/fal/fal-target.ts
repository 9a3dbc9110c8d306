import type { Middleware } from 'koa';
import { invalidParameter } from '../../../errors/errors.ts';
import type { RequestState } from '../../request-scope.ts';
import { falDialect } from './fal-dialect.ts';

const header = 'x-fal-target-url';
const queueHost = 'queue.fal.run';
const places: Readonly<Record<string, string>> = { [queueHost]: '/fal', 'fal.run': '/fal/run' };

/**
 * The official client supports a single proxy URL and passes the original URL in a header. Only the original URL's path
 * is used: `https://queue.fal.run/any/clip` becomes our `/fal/any/clip`. The original URL is never called.
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
      `The header ${header} must be a URL at https://${queueHost} or https://fal.run. This gateway supports neither uploads nor tokens. Send media as URLs.`,
    );
  context.url = `${place}${url.pathname}${url.search}`;
  return next();
};
