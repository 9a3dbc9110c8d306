import type { BodyAllowance } from './body-budget.ts';

/** A text occupies this multiple of its size until the response is sent, as bytes, string and parsed value. */
export const textCostFactor = 4;
const firstBytes = 1024;

/** Collects a text in a single growing buffer, so that a chunk costs no more memory than its bytes. */
export class Slab {
  private readonly memory: Pick<BodyAllowance, 'reserve'>;
  private readonly bytesMax: number;
  private buffer: Buffer = Buffer.alloc(0);
  private used = 0;

  constructor(memory: Pick<BodyAllowance, 'reserve'>, bytesMax: number) {
    this.memory = memory;
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.used;
  }

  push(piece: Uint8Array): void {
    if (this.used + piece.length > this.buffer.length) this.grow(this.used + piece.length);
    this.buffer.set(piece, this.used);
    this.used += piece.length;
  }

  read(from = 0, to = this.used): Buffer {
    return this.buffer.subarray(from, to);
  }

  cutTo(bytes: number): void {
    this.used = bytes;
  }

  private grow(needed: number): void {
    const capacity = Math.max(needed, Math.min(Math.max(firstBytes, needed * 2), this.bytesMax));
    this.memory.reserve((capacity - this.buffer.length) * textCostFactor);
    const larger = Buffer.allocUnsafe(capacity);
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}
