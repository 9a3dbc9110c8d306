import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { holderOf } from './connections.ts';
import { TimeSlice } from './time-slice.ts';

/**
 * Processes one request at a time per connection. Node's parser would turn everything that has arrived into requests or
 * body chunks at once, and a single packet can contain 2,000 requests or 10,000 chunks. Bytes after a request are
 * therefore parsed only when its response has been flushed, and a body only while it is being read. All connections
 * share one time slice per event loop turn, divided fairly among callers.
 */
export function answerInTurn(server: Server, heldBytesMax = heldBytesMaxDefault): void {
  const budget = { left: heldBytesMax, leftForTurns: heldBytesMax / 3, holders: new Set<ConnectionTurns>() };
  const slice = new TimeSlice();
  server.on('connection', (socket: Socket) => {
    // Node accepts one connection per turn, and each new one would otherwise delay the pending ones by a slice.
    slice.putOff();
    if (!socket.destroyed) turns.set(socket, new ConnectionTurns(socket, budget, slice));
  });
  // Must run before the application's own listeners.
  for (const event of ['request', 'checkExpectation']) {
    server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
      turns.get(request.socket)?.begin(request, response);
    });
  }
}

/** Returns true while the gateway holds back bytes of this request. A delay is then not the sender's fault. */
export function isHeldBack({ socket }: IncomingMessage): boolean {
  return (turns.get(socket)?.heldBytes ?? 0) > 0;
}

export function hasMore(socket: Socket): boolean {
  const connection = turns.get(socket);
  return connection !== undefined && (connection.heldBytes > 0 || connection.isInHeaders);
}

const turns = new WeakMap<Socket, ConnectionTurns>();

/**
 * The memory for bytes that are held back. When it is exhausted, the gateway closes the connection that holds back the
 * most bytes, among those that cannot currently be parsed.
 */
interface HeldBytes {
  left: number;
  /** While more than this is left, bytes may wait for a later event loop turn. */
  readonly leftForTurns: number;
  readonly holders: Set<ConnectionTurns>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  bytesLeft: number | undefined;
}

const heldBytesMaxDefault = 48 * 1024 * 1024;
const lineEnd = '\r\n';
const headersEnd = '\r\n\r\n';
/** Limits the lines parsed per turn. Tiny chunks (two lines each) would otherwise block the event loop. */
const chunkLinesMax = 64;
/**
 * A caller may keep sending for this long after the last response. Closing immediately could reset the connection and
 * lose that response.
 */
const lingerMs = 1_000;

class ConnectionTurns {
  private readonly socket: Socket;
  private readonly budget: HeldBytes;
  private readonly slice: TimeSlice;
  private readonly parse: (bytes: Buffer) => void;
  private exchange: Exchange | undefined;
  private held: Buffer[] = [];
  heldBytes = 0;
  isInHeaders = false;
  /**
   * The end of an unfinished header block, because the blank line that ends the block may be split across two packets.
   */
  private tail: Buffer = Buffer.alloc(0);
  private isClosing = false;

  constructor(socket: Socket, budget: HeldBytes, slice: TimeSlice) {
    this.socket = socket;
    this.budget = budget;
    this.slice = slice;
    const [parse, ...others] = socket.listeners('data');
    if (parse === undefined || others.length > 0)
      throw new Error(
        'this version of Node attaches its HTTP parser in a way that the gateway does not support',
      );
    this.parse = (bytes) => void parse.call(socket, bytes);
    socket.removeAllListeners('data').on('data', (bytes: Buffer) => this.take(bytes));
    socket.once('close', () => this.drop());
    socket.destroySoon = () => this.close();
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    // Close the connection. A second request before the response can only follow a chunked body, whose end only the
    // parser can find. Clients that wait for responses never send one.
    if (this.exchange !== undefined) {
      this.socket.destroy();
      return;
    }
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    const bytesLeft = isChunked ? undefined : Number(request.headers['content-length'] ?? 0);
    this.exchange = { request, response, bytesLeft };
    this.isInHeaders = false;
    request.on('resume', () => this.goOn());
    response.once('close', () => setImmediate(() => this.goOn()));
  }

  private take(bytes: Buffer): void {
    if (this.isClosing) return;
    this.held.push(bytes);
    this.goOn();
  }

  private goOn(): void {
    const { left, leftForTurns } = this.budget;
    if (this.isReady() && left > leftForTurns) this.slice.run(holderOf(this.socket), this.pump);
    else this.pump();
    this.account();
  }

  private readonly pump = (): void => {
    if (!this.isReady()) return;
    const isInChunks = this.step();
    if (this.held.length > 0 && isInChunks) this.slice.later(holderOf(this.socket), this.pump);
    else if (this.held.length > 0) this.goOn();
    this.account();
  };

  isReady(): boolean {
    if (this.held.length === 0 || this.isClosing || this.socket.destroyed) return false;
    const { exchange } = this;
    if (exchange === undefined) return true;
    const { request, response, bytesLeft } = exchange;
    if (!request.complete && bytesLeft !== 0) return request.readableFlowing === true;
    if (!response.closed) return false;
    this.exchange = undefined;
    return true;
  }

  private step(): boolean {
    const { exchange } = this;
    const [bytes = Buffer.alloc(0)] = this.held;
    const end = this.stepEnd(bytes);
    if (end < bytes.length) this.held[0] = bytes.subarray(end);
    else this.held.shift();
    if (exchange?.bytesLeft !== undefined) exchange.bytesLeft -= end;
    const parsed = bytes.subarray(0, end);
    // Some clients send line breaks after a body. Ignore them.
    if (exchange === undefined) this.isInHeaders ||= parsed.some((byte) => byte !== 13 && byte !== 10);
    this.parse(parsed);
    return exchange !== undefined && exchange.bytesLeft === undefined;
  }

  private stepEnd(bytes: Buffer): number {
    if (this.exchange === undefined) return this.headersEndIn(bytes);
    return this.exchange.bytesLeft === undefined
      ? chunksEndIn(bytes)
      : Math.min(bytes.length, this.exchange.bytesLeft);
  }

  private headersEndIn(bytes: Buffer): number {
    const { tail } = this;
    const seam = Buffer.concat([tail, bytes.subarray(0, headersEnd.length - 1)]);
    const across = tail.length === 0 ? -1 : seam.indexOf(headersEnd, 0, 'latin1');
    const found = bytes.indexOf(headersEnd, 0, 'latin1');
    const isAcross = across !== -1;
    const end = isAcross ? across - tail.length : found;
    this.tail =
      isAcross || found !== -1
        ? Buffer.alloc(0)
        : Buffer.concat([tail, bytes.subarray(1 - headersEnd.length)]).subarray(1 - headersEnd.length);
    return isAcross || found !== -1 ? end + headersEnd.length : bytes.length;
  }

  private account(): void {
    const { budget, socket } = this;
    const heldBytes = this.held.reduce((sum, { length }) => sum + length, 0);
    const wasHeld = this.heldBytes > 0;
    budget.left += this.heldBytes - heldBytes;
    this.heldBytes = heldBytes;
    if (heldBytes > 0) budget.holders.add(this);
    else budget.holders.delete(this);
    if (budget.left < 0 && !this.isReady()) cutLargest(budget.holders);
    if (socket.destroyed) return;
    if (heldBytes > 0) socket.pause();
    else if (wasHeld) socket.resume();
  }

  cut(): void {
    this.socket.destroy();
    this.drop();
  }

  private drop(): void {
    this.held = [];
    this.slice.forget(this.pump);
    this.account();
  }

  private close(): void {
    this.isClosing = true;
    this.drop();
    const cut = setTimeout(() => this.socket.destroy(), lingerMs);
    this.socket.once('close', () => clearTimeout(cut)).once('end', () => this.socket.destroy());
    this.socket.end();
    this.socket.resume();
  }
}

function cutLargest(holders: ReadonlySet<ConnectionTurns>): void {
  let largest: ConnectionTurns | undefined;
  for (const each of holders) {
    if (each.heldBytes > (largest?.heldBytes ?? 0) && !each.isReady()) largest = each;
  }
  largest?.cut();
}

function chunksEndIn(bytes: Buffer): number {
  let at = 0;
  for (let lines = 0; lines < chunkLinesMax; lines += 1) {
    const found = bytes.indexOf(lineEnd, at, 'latin1');
    if (found === -1) return bytes.length;
    at = found + lineEnd.length;
  }
  return at;
}
