export { openOutbound } from './outbound.ts';
export type { OpenLink, Outbound } from './outbound.ts';
export { GuardedRequestError } from './exchange.ts';
export type { GuardedClient } from './guarded-client.ts';
export { scrub } from './scrub.ts';
