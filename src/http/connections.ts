import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPlaces } from '../base/places.ts';
import type { Place, Places } from '../base/places.ts';
import { addressName } from './client-address.ts';

/** The open connections of one server. */
export interface Connections {
  /** Whether an answer to what is unreadable now would be read as the answer to something else. */
  isAnswered(socket: Socket): boolean;
}

export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** The minimum average rate at which a caller must read its response, or be disconnected. 0: no minimum. */
  readonly answerBytesPerSecondMin: number;
}

/** The share of connections for strangers. The rest is for callers that have shown a valid credential. */
const strangersShare = 0.25;

/**
 * A new connection counts as a stranger's and belongs to its address. It is always accepted: if there is no room, the
 * address with the most connections loses one, unused and idle ones first. `recognise` moves a connection to the
 * callers' places, which strangers cannot take.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
  const strangersMax = Math.max(1, Math.floor(limits.connectionsMax * strangersShare));
  const callersMax = Math.max(1, limits.connectionsMax - strangersMax);
  const strangers = createPlaces({
    name: 'connections of strangers',
    placesMax: strangersMax,
    evicts: 'any',
  });
  const callers = createPlaces({ name: 'connections of callers', placesMax: callersMax });
  server.on('connection', (socket: Socket) => {
    const place = strangers.take(addressName(socket.remoteAddress), { evict: () => void socket.destroy() });
    if (typeof place === 'string') socket.destroy();
    else connections.set(socket, new Connection(socket, place, callers));
  });
  // Before the application's own listener.
  server.prependListener('request', (request, response) => {
    connections.get(request.socket)?.begin({ request, response });
  });
  cutSlowReaders(server, limits.answerBytesPerSecondMin);
  return { isAnswered: (socket) => connections.get(socket)?.isAnswered() ?? false };
}

/** Assigns the connection to this holder, once its request has shown a valid key, token or link. */
export function recognise({ socket }: IncomingMessage, holder: string): void {
  connections.get(socket)?.belongTo(holder);
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
  private holder: string | undefined;
  private exchange: Exchange | undefined;
  /** The bytes that the caller had read when the exchange began, and how long it has blocked us since. */
  private takenBytes = 0;
  private blockedMs = 0;

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
    this.place.mark('busy');
    exchange.response.once('close', () => this.place.mark('idle'));
  }

  /** If the callers' places are full, the connection still counts as a stranger's. */
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

  /** `elapsedMs`: the time since the previous call. */
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

/** Bytes that the caller may have read but that still count as unsent: one piece of a response. */
const windowBytes = 64 * 1024;
const lookEveryMs = 5_000;

function cutSlowReaders(server: Server, bytesPerSecondMin: number): void {
  if (bytesPerSecondMin === 0) return;
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const look = (): void => {
    // Each check counts as one interval, so that callers are not blamed for a pause of this process.
    for (const socket of open) connections.get(socket)?.cutIfSlow(lookEveryMs, bytesPerSecondMin);
  };
  const timer = setInterval(look, lookEveryMs).unref();
  server.once('close', () => clearInterval(timer));
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
