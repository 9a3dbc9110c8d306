import { once } from 'node:events';
import { createServer as createControl } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * TCP links to the servers, in a separate process. Arguments: the control port, then `<name>:<port>:<target port>` for
 * each link. `POST /<name>/<mode>` sets a link's mode: `pass`, `cut` (refuses connections), `silent` (keeps connections
 * open, but passes no data), `slow` (300 ms per chunk), or `reset` (breaks all connections and lets new ones pass).
 */

const slowMs = 300;
const lookMs = 50;
const modes = ['pass', 'cut', 'silent', 'slow'] as const;
type Mode = (typeof modes)[number];

interface Link {
  mode: Mode;
  readonly sockets: Set<Socket>;
}

const [controlPort, ...descriptions] = process.argv.slice(2);
const links = new Map<string, Link>();
for (const description of descriptions) {
  const [name = '', port, target] = description.split(':');
  links.set(name, openLink(Number(port), Number(target)));
}
createControl((request, response) => {
  const [, name = '', wish = ''] = (request.url ?? '').split('/');
  const link = links.get(name);
  if (link !== undefined) change(link, wish);
  request.resume();
  response.writeHead(link === undefined ? 404 : 204).end();
}).listen(Number(controlPort), '127.0.0.1');

function change(link: Link, wish: string): void {
  link.mode = modes.find((mode) => mode === wish) ?? 'pass';
  if (wish === 'cut' || wish === 'reset') for (const socket of link.sockets) socket.resetAndDestroy();
}

function openLink(port: number, target: number): Link {
  const link: Link = { mode: 'pass', sockets: new Set() };
  createServer({ noDelay: true }, (near) => {
    if (link.mode === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      link.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        link.sockets.delete(socket);
        other.destroy();
      });
      void carry(link, socket, other).catch(() => other.destroy());
    }
  }).listen(port, '127.0.0.1');
  return link;
}

async function carry(link: Link, from: Socket, to: Socket): Promise<void> {
  for await (const read of from) {
    const piece: unknown = read;
    if (!Buffer.isBuffer(piece)) continue;
    if (link.mode === 'slow') await delay(slowMs);
    while (link.mode === 'silent') await delay(lookMs);
    if (!to.write(piece)) await once(to, 'drain');
  }
  to.end();
}
