import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { listener } from './listener.ts';

export interface RewritingUpstream {
  readonly url: string;
  close(): void;
}

/** Forwards requests to the simulator at `origin()`, and changes the text of its responses with `rewrite`. */
export async function startRewritingUpstream(
  origin: () => string,
  rewrite: (text: string) => string,
): Promise<RewritingUpstream> {
  const server = createServer(
    listener(async (received, response) => {
      const body: Buffer[] = [];
      for await (const part of received) body.push(part as Buffer);
      const answer = await request(`${origin()}${received.url}`, {
        method: received.method === 'POST' ? 'POST' : 'GET',
        headers: {
          authorization: received.headers.authorization ?? '',
          'content-type': 'application/json',
        },
        ...(received.method === 'POST' ? { body: Buffer.concat(body) } : {}),
      });
      const text = await answer.body.text();
      response.writeHead(answer.statusCode, { 'content-type': 'application/json' });
      response.end(rewrite(text));
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
