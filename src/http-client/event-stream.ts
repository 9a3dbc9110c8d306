import { createLargeJsonReader } from '../providers/shared/large-json.ts';

export interface EventStreamReader {
  /** Keeps references to the chunk, so the caller must not modify it afterwards. */
  push(chunk: Uint8Array): void;
}

const lineFeed = 0x0a;
const field = Buffer.from('data:');

/**
 * Expects one data line per event, which is what all image APIs send. Data that is not JSON, such as `[DONE]`, is
 * skipped.
 */
export function createEventStreamReader(onEvent: (event: unknown) => void): EventStreamReader {
  let line: Uint8Array[] = [];
  const endLine = (): void => {
    const text = Buffer.concat(line);
    line = [];
    if (!text.subarray(0, field.length).equals(field)) return;
    const json = createLargeJsonReader();
    json.push(text.subarray(field.length));
    const event = json.finish();
    if (event !== undefined) onEvent(event);
  };
  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let at = 0;
      for (;;) {
        const end = bytes.indexOf(lineFeed, at);
        line.push(bytes.subarray(at, end < 0 ? bytes.length : end));
        if (end < 0) return;
        endLine();
        at = end + 1;
      }
    },
  };
}
