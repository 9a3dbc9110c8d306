import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { createRounds } from '../process/rounds.ts';
import { formatMicros } from '../money/money.ts';
import { parseJson } from '../base/parse-json.ts';

const pollMs = 300;
const chunkBytesMax = 1024 * 1024;

const recordSchema = z.object({
  level: z.string(),
  time: z.string(),
  msg: z.string(),
  operation: z.string().optional(),
  method: z.string().optional(),
  status: z.union([z.number(), z.string()]).optional(),
  duration_ms: z.number().optional(),
  task: z.string().optional(),
  amount: z.string().optional(),
  code: z.string().optional(),
  reason: z.string().optional(),
});

/**
 * Shows requests, finished tasks and failures. Returns undefined for any other record. LOG_LEVEL decides which records
 * reach the log at all.
 */
export function terminalLine(text: string): string | undefined {
  const parsed = recordSchema.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { time, level, msg, ...facts } = parsed.data;
  // watch-gateway.ts already reports whether the gateway is ready.
  if (facts.operation === 'readyz') return undefined;
  // The simulator calls back several times per task, so successful callbacks are left out.
  if (facts.operation === 'receiveUpstreamCallback' && Number(facts.status) < 400) return undefined;
  const clock = new Date(time).toTimeString().slice(0, 8);
  if (msg === 'request') {
    return `${clock}  ${facts.method} ${facts.operation || '(no such route)'}  ${facts.status}  ${facts.duration_ms} ms`;
  }
  if (msg === 'a task has ended') {
    return `${clock}  ${facts.task}  ${facts.status}, charged ${formatMicros(BigInt(facts.amount ?? '0'))}`;
  }
  if (level !== 'warn' && level !== 'error') return undefined;
  const details = [facts.task, facts.operation, facts.code, facts.reason].filter(
    (part) => part !== undefined,
  );
  return [`${clock}  ${level.toUpperCase()}  ${msg}`, ...details].join('  ');
}

/** Passes on every line that is appended from now on. If the file becomes shorter, starts again from its beginning. */
export async function followFile(
  file: string,
  onLine: (line: string) => void,
): Promise<{ stop(): Promise<void> }> {
  let offset = await sizeOf(file);
  let rest = Buffer.alloc(0);

  const work = async (): Promise<void> => {
    const size = await sizeOf(file);
    if (size < offset) offset = 0;
    while (offset < size) {
      const chunk = await readChunk(file, offset, Math.min(size - offset, chunkBytesMax));
      if (chunk.length === 0) return;
      offset += chunk.length;
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf('\n') + 1;
      rest = bytes.subarray(end);
      for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) if (line !== '') onLine(line);
    }
  };
  const { start, stop } = createRounds({ everyMs: pollMs, work, onError: () => undefined });
  start();
  return { stop };
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function readChunk(file: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
