import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TimeSlice } from './time-slice.ts';

/**
 * Lets each connection have one request at a time: what it sends beyond the end of a request is not even parsed until
 * the answer is flushed, and a body not before somebody reads it. Node's parser makes requests, or pieces of a body, of
 * everything that has arrived: of one packet 2,000 requests, or 10,000 pieces. And however many connections send at the
 * same time, they have a slice of each turn of the event loop together.
 */
export function answerInTurn(server: Server, heldBytesMax = heldBytesMaxDefault): void {
  const budget = { left: heldBytesMax, leftForTurns: heldBytesMax / 3, holders: new Set<ConnectionTurns>() };
  const slice = new TimeSlice();
  server.on('connection', (socket: Socket) => {
    if (!socket.destroyed) turns.set(socket, new ConnectionTurns(socket, budget, slice));
  });
  // Before the application's own listeners.
  for (const event of ['request', 'checkExpectation']) {
    server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
      turns.get(request.socket)?.begin(request, response);
    });
  }
}

/** Whether bytes of this request have arrived and wait here: what they wait for is not the sender's fault. */
export function isHeldBack({ socket }: IncomingMessage): boolean {
  return (turns.get(socket)?.heldBytes ?? 0) > 0;
}

const turns = new WeakMap<Socket, ConnectionTurns>();

/** What the connections of a server hold back together; beyond it, the one that holds most before its turn is cut. */
interface HeldBytes {
  left: number;
  /** Bytes that only wait for a turn of the loop are held while more than this is left: nobody is cut for them. */
  readonly leftForTurns: number;
  readonly holders: Set<ConnectionTurns>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the body, for the parser; undefined: sent in chunks. */
  bytesLeft: number | undefined;
}

const heldBytesMaxDefault = 48 * 1024 * 1024;
const lineEnd = '\r\n';
const headersEnd = '\r\n\r\n';
/** Of a body in chunks, in one turn of the event loop: each chunk has two, so that tiny ones share the loop with others. */
const chunkLinesMax = 64;
/** How long a caller that still sends is listened to after the last answer: closing at once would take it back. */
const lingerMs = 1_000;

class ConnectionTurns {
  private readonly socket: Socket;
  private readonly budget: HeldBytes;
  private readonly slice: TimeSlice;
  /** Node's own listener, which feeds the parser. */
  private readonly parse: (bytes: Buffer) => void;
  private exchange: Exchange | undefined;
  /** Arrived, and not parsed yet. */
  private held: Buffer[] = [];
  heldBytes = 0;
  /** The last bytes of headers whose end has not come: it may lie across two packets. */
  private tail: Buffer = Buffer.alloc(0);
  private isClosing = false;

  constructor(socket: Socket, budget: HeldBytes, slice: TimeSlice) {
    this.socket = socket;
    this.budget = budget;
    this.slice = slice;
    const [parse, ...others] = socket.listeners('data');
    if (parse === undefined || others.length > 0)
      throw new Error('Node’s HTTP parser listens in another way');
    this.parse = (bytes) => void parse.call(socket, bytes);
    socket.removeAllListeners('data').on('data', (bytes: Buffer) => this.take(bytes));
    socket.once('close', () => this.drop());
    socket.destroySoon = () => this.close();
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    // Behind a body in chunks, whose end only the parser knows. Nobody who waits for answers sends so.
    if (this.exchange !== undefined) {
      this.socket.destroy();
      return;
    }
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    const bytesLeft = isChunked ? undefined : Number(request.headers['content-length'] ?? 0);
    this.exchange = { request, response, bytesLeft };
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
    if (this.isReady() && left > leftForTurns) this.slice.run(this.pump);
    else this.pump();
    this.account();
  }

  private readonly pump = (): void => {
    if (!this.isReady()) return;
    const isInChunks = this.step();
    if (this.held.length > 0 && isInChunks) this.slice.later(this.pump);
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

  /** True: of a body in chunks. */
  private step(): boolean {
    const { exchange } = this;
    const [bytes = Buffer.alloc(0)] = this.held;
    const end = this.stepEnd(bytes);
    if (end < bytes.length) this.held[0] = bytes.subarray(end);
    else this.held.shift();
    if (exchange?.bytesLeft !== undefined) exchange.bytesLeft -= end;
    this.parse(bytes.subarray(0, end));
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

  /** Pauses while something is held back. */
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

  /** After the last answer: the caller closes the connection, and what it still sends is ignored. */
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

/** How much of a body in chunks is parsed in one turn. */
function chunksEndIn(bytes: Buffer): number {
  let at = 0;
  for (let lines = 0; lines < chunkLinesMax; lines += 1) {
    const found = bytes.indexOf(lineEnd, at, 'latin1');
    if (found === -1) return bytes.length;
    at = found + lineEnd.length;
  }
  return at;
}
