/** Writes bits most significant first, the order of JPEG's entropy coding. */
export class BitWriter {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;
  #current = 0;
  #bitsInCurrent = 0;

  /** `count` is at most 31: JavaScript shifts work on 32 signed bits. */
  bits(value: number, count: number): void {
    let left = count;
    while (left > 0) {
      const taken = Math.min(8 - this.#bitsInCurrent, left);
      left -= taken;
      this.#current = (this.#current << taken) | ((value >>> left) & ((1 << taken) - 1));
      this.#bitsInCurrent += taken;
      if (this.#bitsInCurrent === 8) this.#flushByte();
    }
  }

  /** Fills the last byte with ones, as JPEG demands, and hands the bytes over. */
  finish(): Buffer {
    while (this.#bitsInCurrent > 0) this.bits(1, 1);
    return this.#bytes.subarray(0, this.#length);
  }

  #flushByte(): void {
    if (this.#length === this.#bytes.length) {
      const grown = Buffer.allocUnsafe(this.#bytes.length * 2);
      this.#bytes.copy(grown);
      this.#bytes = grown;
    }
    this.#bytes[this.#length] = this.#current;
    this.#length += 1;
    this.#current = 0;
    this.#bitsInCurrent = 0;
  }
}
