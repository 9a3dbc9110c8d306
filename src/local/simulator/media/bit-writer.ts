/** Writes bits most significant first, the order of H.264 and JPEG entropy coding alike. */
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

  /** Unsigned Exp-Golomb, ue(v) of H.264 9.1. */
  ue(value: number): void {
    const coded = value + 1;
    const width = 32 - Math.clz32(coded);
    this.bits(0, width - 1);
    this.bits(coded, width);
  }

  /** Signed Exp-Golomb, se(v) of H.264 9.1.1. */
  se(value: number): void {
    this.ue(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Pads the last byte with `fill` bits and hands the bytes over. */
  finish(fill: 0 | 1): Buffer {
    while (this.#bitsInCurrent > 0) this.bits(fill, 1);
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
