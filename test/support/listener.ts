import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * A listener for `createServer` that ends the connection if its work fails, for example because the caller left while
 * its body was read. Without it, the failure would fail the whole run, outside of all tests.
 */
export function listener(work: (request: IncomingMessage, response: ServerResponse) => unknown) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    (async () => work(request, response))().catch(() => response.destroy());
  };
}
