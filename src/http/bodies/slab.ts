import type { BodyAllowance } from './body-budget.ts';

/** What a text costs until its request is answered, in bytes of it: itself, the string, and the value made of it. */
export const textCostFactor = 4;
const firstBytes = 1024;

/** Bytes that arrive piece by piece, copied into one buffer that grows: a piece costs nothing beside its bytes. */
export class Slab {
  private readonly memory: Pick<BodyAllowance, 'reserve'>;
  private readonly bytesMax: number;
  private buffer: Buffer = Buffer.alloc(0);
  private used = 0;

  /** `bytesMax`: what its owner lets it hold. */
  constructor(memory: Pick<BodyAllowance, 'reserve'>, bytesMax: number) {
    this.memory = memory;
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.used;
  }

  /** Throws what the allowance throws. */
  push(piece: Uint8Array): void {
    if (this.used + piece.length > this.buffer.length) this.grow(this.used + piece.length);
    this.buffer.set(piece, this.used);
    this.used += piece.length;
  }

  /** What was pushed; valid until the next push. */
  read(from = 0, to = this.used): Buffer {
    return this.buffer.subarray(from, to);
  }

  /** Forgets what was pushed after the first `bytes`. */
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
