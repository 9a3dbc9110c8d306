/** Keeps what was rendered last, up to a number of bytes; the oldest entry goes first. */
export class MediaCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Buffer>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string, render: () => Buffer): Buffer {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const rendered = render();
    this.#entries.set(key, rendered);
    this.#bytes += rendered.length;
    for (const [oldest, buffer] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || oldest === key) break;
      this.#entries.delete(oldest);
      this.#bytes -= buffer.length;
    }
    return rendered;
  }
}
