import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';

export type Forwarder = Awaited<ReturnType<typeof startForwarder>>;

interface Forwarding {
  readonly below?: string;
  readonly rewrite?: (text: string) => string;
}

export async function startForwarder(target: () => string, { below = '', rewrite }: Forwarding) {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${below}/`)) {
      outgoing.writeHead(418).end();
      return;
    }
    const passed = request(`${target()}${url.slice(below.length)}`, { method, headers, agent: false });
    passed.on('response', (answer) => {
      const status = answer.statusCode ?? 502;
      if (rewrite === undefined) {
        outgoing.writeHead(status, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      text(answer).then(
        (said) => outgoing.writeHead(status, { 'content-type': 'application/json' }).end(rewrite(said)),
        () => outgoing.destroy(),
      );
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  return listen(server);
}
