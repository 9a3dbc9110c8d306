/** The only way out: every outbound HTTP request of the gateway goes through `Outbound`. */
export { openOutbound } from './outbound.ts';
export type { OpenLink, Outbound } from './outbound.ts';
export { GuardedRequestError } from './exchange.ts';
export type { GuardedClient } from './guarded-client.ts';
export { scrub } from './scrub.ts';
