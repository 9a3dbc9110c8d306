import { GatewayError } from '../errors/errors.ts';

/** These limits keep code that walks a parsed value from blocking the event loop. */
export const jsonNodesMax = 4_000;
export const jsonKeysMax = 1_000;
export const jsonDepthMax = 64;

const quote = 0x22;
const backslash = 0x5c;

/** Counts values, keys and levels before the text is parsed. Does not check the grammar. */
export class JsonScanner {
  private nodes = 1;
  private keys = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;

  scan(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.inString ? this.skipString(chunk, at) : this.scanStructure(chunk, at);
    }
  }

  private skipString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      if (this.escaped) this.escaped = false;
      else if (chunk[at] === backslash) this.escaped = true;
      else if (chunk[at] === quote) {
        this.inString = false;
        return at + 1;
      }
    }
    return chunk.length;
  }

  private scanStructure(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      switch (chunk[at] ?? 0) {
        case quote:
          this.inString = true;
          return at + 1;
        case 0x7b: // {
        case 0x5b: // [
          this.depth += 1;
          this.nodes += 1;
          break;
        case 0x7d: // }
        case 0x5d: // ]
          this.depth -= 1;
          break;
        case 0x2c: // ,
          this.nodes += 1;
          break;
        case 0x3a: // :
          this.keys += 1;
          break;
        default:
          continue;
      }
      if (this.nodes > jsonNodesMax || this.keys > jsonKeysMax || this.depth > jsonDepthMax) throw tooMuch();
    }
    return chunk.length;
  }
}

function tooMuch(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `JSON must not contain more than ${jsonNodesMax} values or ${jsonKeysMax} keys, or be nested more than ${jsonDepthMax} levels deep.`,
  );
}

/** Returns undefined if the text is not JSON or exceeds the limits of `JsonScanner`. */
export function parseJsonText(text: string): unknown {
  try {
    new JsonScanner().scan(Buffer.from(text));
    // The body parser rejects __proto__, so JSON text inside the body must not reintroduce it.
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    return undefined;
  }
}
