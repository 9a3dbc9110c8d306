import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The open connections of one server, within a limit that idle ones cannot use up. */
export interface Connections {
  /** Whether an answer to what is unreadable now would be read as the answer to something else. */
  isAnswered(socket: Socket): boolean;
  readonly count: number;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Beyond `max` connections the one that has been idle longest makes room, first those that never sent a request. Where
 * none is idle, the newcomer is handed to `refuse`.
 */
export function limitConnections(server: Server, max: number, refuse: (socket: Socket) => void): Connections {
  const open = new Set<Socket>();
  /** In the order in which they became idle. */
  const silent = new Set<Socket>();
  const keptAlive = new Set<Socket>();
  const latest = new WeakMap<Socket, Exchange>();

  server.on('connection', (socket: Socket) => {
    if (open.size >= max && !makeRoom()) {
      refuse(socket);
      return;
    }
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      for (const set of [open, silent, keptAlive]) set.delete(socket);
    });
  });

  function makeRoom(): boolean {
    const idle: Socket | undefined = silent.values().next().value ?? keptAlive.values().next().value;
    if (idle === undefined) return false;
    for (const set of [open, silent, keptAlive]) set.delete(idle);
    idle.destroy();
    return true;
  }

  // Before the application's own listener.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    silent.delete(socket);
    keptAlive.delete(socket);
    latest.set(socket, { request, response });
    response.once('close', () => {
      if (open.has(socket)) keptAlive.add(socket);
    });
  });

  return {
    isAnswered(socket) {
      const exchange = latest.get(socket);
      if (exchange === undefined) return false;
      const { request, response } = exchange;
      return request.complete ? !response.writableFinished : response.headersSent;
    },
    get count() {
      return open.size;
    },
  };
}

const connectionsMaxDefault = 8_192;

/**
 * How many connections a process may hold: half of the files that it may open, for the databases, the upstreams and the
 * uploads need some too.
 */
export function connectionsMaxOf(openFilesMax: number | undefined): number {
  if (openFilesMax === undefined) return connectionsMaxDefault;
  return Math.min(connectionsMaxDefault, Math.max(1, Math.floor(openFilesMax / 2)));
}
