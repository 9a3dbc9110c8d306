/**
 * The only way out: every outbound HTTP request of the gateway goes through one of these two clients.
 * `createUpstreamClient` serves the adapters, at addresses that the operator configured; `createGuardedClient` serves
 * everything whose address somebody else chose (callbacks, media, result links).
 */
export { createGuardedClient } from './guarded-client.ts';
export { GuardedRequestError } from './exchange.ts';
export type { GuardedClient, GuardedClientOptions } from './guarded-client.ts';
export { createUpstreamClient } from './upstream-client.ts';
export type { UpstreamClient, UpstreamClientOptions } from './upstream-client.ts';
export { createAddressRules } from './address-rules.ts';
export { scrub } from './scrub.ts';
