import { once } from 'node:events';
import { createServer, request } from 'node:http';

/**
 * A proxy that serves `target` below the path `below` and forwards nothing else, as if other services ran beside it.
 */
export async function startPathProxy(target: string, below: string) {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${below}/`)) {
      outgoing.writeHead(418).end();
      return;
    }
    const passed = request(
      `${target}${url.slice(below.length)}`,
      { method, headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return server.close();
    },
  };
}
