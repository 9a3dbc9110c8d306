import { once } from 'node:events';
import { Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

export async function listen(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        if (server instanceof HttpServer) server.closeAllConnections();
      }),
  };
}

/** Closes the connection if the handler fails. Otherwise, the failure would fail the whole run, outside any test. */
export function listener(work: (request: IncomingMessage, response: ServerResponse) => unknown) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    (async () => work(request, response))().catch(() => response.destroy());
  };
}
