import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPlaces, type Place, type Places } from '../base/places.ts';
import { addressName } from './client-address.ts';

export interface Connections {
  /** Returns true if a response to unreadable bytes could be mistaken for another request's response. */
  isAnswered(socket: Socket): boolean;
  /**
   * A connection on which a request may be arriving stays open for a while. `hasMore` returns whether part of a request
   * has arrived.
   */
  closeIdle(hasMore: (socket: Socket) => boolean): void;
}

export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** Callers that read more slowly on average are disconnected. 0 means no minimum. */
  readonly answerBytesPerSecondMin: number;
}

const strangersShare = 0.25;

/**
 * Always accepts a new connection. It counts against its IP address until `recognise` moves it to the share reserved for
 * known callers. Over the limit, a connection from the address that holds the most is closed, preferably an unused or
 * idle one.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
  const strangersMax = Math.max(1, Math.floor(limits.connectionsMax * strangersShare));
  const callersMax = Math.max(1, limits.connectionsMax - strangersMax);
  const strangers = createPlaces({
    name: 'unauthenticated connections',
    placesMax: strangersMax,
    evicts: 'any',
  });
  const callers = createPlaces({ name: 'connections of callers', placesMax: callersMax });
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const place = strangers.take(addressName(socket.remoteAddress), { evict: () => void socket.destroy() });
    if (typeof place === 'string') socket.destroy();
    else connections.set(socket, new Connection(socket, place, callers));
  });
  // Must run before the application's own listener.
  server.prependListener('request', (request, response) => {
    connections.get(request.socket)?.begin({ request, response });
  });
  cutSlowReaders(server, open, limits.answerBytesPerSecondMin);
  return {
    isAnswered: (socket) => connections.get(socket)?.isAnswered() ?? false,
    closeIdle(hasMore) {
      for (const socket of open) connections.get(socket)?.closeIfIdle(hasMore(socket));
    },
  };
}

export function recognise({ socket }: IncomingMessage, holder: string): void {
  connections.get(socket)?.belongTo(holder);
}

export function holderOf(socket: Socket): string {
  return connections.get(socket)?.holder ?? addressName(socket.remoteAddress);
}

const connections = new WeakMap<Socket, Connection>();

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

class Connection {
  private readonly socket: Socket;
  private readonly callers: Places;
  private place: Place;
  holder: string | undefined;
  private exchange: Exchange | undefined;
  private takenBytes = 0;
  /** How long bytes have waited for the caller to read them since the exchange began. */
  private blockedMs = 0;
  private spared = 0;

  constructor(socket: Socket, place: Place, callers: Places) {
    this.socket = socket;
    this.place = place;
    this.callers = callers;
    place.mark('unused');
    socket.once('close', () => this.place.leave());
  }

  begin(exchange: Exchange): void {
    this.exchange = exchange;
    this.takenBytes = this.taken();
    this.blockedMs = 0;
    this.spared = 0;
    this.place.mark('busy');
    exchange.response.once('close', () => this.place.mark('idle'));
  }

  belongTo(holder: string): void {
    if (this.holder === holder || this.socket.destroyed) return;
    const place = this.callers.take(holder, { evict: () => void this.socket.destroy() });
    if (typeof place === 'string') return;
    this.place.leave();
    this.place = place;
    this.holder = holder;
  }

  isAnswered(): boolean {
    if (this.exchange === undefined) return false;
    const { request, response } = this.exchange;
    return request.complete ? !response.writableFinished : response.headersSent;
  }

  closeIfIdle(hasMore: boolean): void {
    if (this.exchange !== undefined) {
      const { request, response } = this.exchange;
      if (!request.complete || !response.closed) return;
      if (!hasMore) return void this.socket.destroy();
    }
    this.spared += 1;
    if (this.spared > sparedMax) this.socket.destroy();
  }

  cutIfSlow(elapsedMs: number, bytesPerSecondMin: number): void {
    if (this.socket.writableLength === 0) return;
    this.blockedMs += elapsedMs;
    const due = (bytesPerSecondMin * this.blockedMs) / 1000;
    if (this.taken() - this.takenBytes + windowBytes < due) this.socket.destroy();
  }

  private taken(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }
}

/**
 * An idle connection survives this many sweeps while a request may be arriving, because it has had no request yet or
 * only part of one. During a shutdown, Node no longer limits how long a request's headers may take.
 */
const sparedMax = 10;
/** The caller may already have read this many bytes that still look unsent. */
const windowBytes = 64 * 1024;
const lookEveryMs = 5_000;

function cutSlowReaders(server: Server, open: ReadonlySet<Socket>, bytesPerSecondMin: number): void {
  if (bytesPerSecondMin === 0) return;
  const look = (): void => {
    // Count each check as one interval, so that callers are not blamed when this process pauses.
    for (const socket of open) connections.get(socket)?.cutIfSlow(lookEveryMs, bytesPerSecondMin);
  };
  const timer = setInterval(look, lookEveryMs).unref();
  server.once('close', () => clearInterval(timer));
}

const connectionsMaxDefault = 8_192;

/**
 * A third of the files that the process may open, up to a maximum. Each connection may need another one, for the file or
 * the connection from which its response is read. Upstreams and databases need the rest.
 */
export function connectionsMaxOf(openFilesMax: number | undefined): number {
  if (openFilesMax === undefined) return connectionsMaxDefault;
  return Math.min(connectionsMaxDefault, Math.max(1, Math.floor(openFilesMax / 3)));
}
