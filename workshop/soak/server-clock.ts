import { open, readFile, readdir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startTemporalServer } from '../../src/local/servers/temporal-server.ts';
import type { TemporalOptions, TemporalServer } from '../../src/local/servers/temporal-server.ts';

/** Whether a running process's clock can be moved here. */
export const canMoveClocks = process.platform === 'linux' && process.arch === 'x64';

/** Starts Temporal's server, and moves its clock once the server is ready. */
export async function startTemporal(
  options: Omit<TemporalOptions, 'uiPort'>,
  aheadMs: number,
): Promise<TemporalServer> {
  const server = await startTemporalServer({ ...options, uiPort: 'none' });
  if (aheadMs !== 0) await moveClock(server.pid, aheadMs / 1000);
  return server;
}

/**
 * Moves a running process's wall clock by seconds. Temporal's server is a static program, so no library can be
 * preloaded into it. It gets its time from the kernel's vDSO, of which each process has its own copy in memory. The
 * copy's `clock_gettime` is replaced with one that adds to CLOCK_REALTIME. The monotonic clock and timers do not
 * change.
 */
async function moveClock(pid: number, seconds: number): Promise<void> {
  const { start, end } = await findVdso(pid);
  const memory = await open(`/proc/${pid}/mem`, 'r+');
  try {
    const image = Buffer.alloc(end - start);
    await memory.read(image, 0, image.length, start);
    const at = start + offsetOf(image, '__vdso_clock_gettime');
    await writeWhileOutside(pid, { start, end, at, code: clockCode(seconds), memory });
  } finally {
    await memory.close();
  }
}

async function findVdso(pid: number): Promise<{ readonly start: number; readonly end: number }> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  const [, start = '', end = ''] = /^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$/m.exec(maps) ?? [];
  if (start === '') throw new Error(`process ${pid} has no vDSO`);
  return { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) };
}

/** A function's offset in an ELF image, found through its dynamic symbols. */
function offsetOf(image: Buffer, name: string): number {
  const word = (at: number): number => Number(image.readBigUInt64LE(at));
  const headers = Array.from({ length: image.readUInt16LE(0x38) }, (_, index) => word(0x20) + 56 * index);
  const offsetOfType = (type: number): number => {
    const header = headers.find((at) => image.readUInt32LE(at) === type);
    if (header === undefined) throw new Error('the vDSO has no dynamic section');
    return word(header + 8);
  };
  const tables = new Map<number, number>();
  for (let at = offsetOfType(2); word(at) !== 0; at += 16) tables.set(word(at), word(at + 8));
  const [names = 0, symbols = 0] = [tables.get(5), tables.get(6)];
  // The names start where the symbols end.
  for (let at = symbols; at + 24 <= image.length && (names < symbols || at < names); at += 24) {
    const from = names + image.readUInt32LE(at);
    if (image.toString('latin1', from, from + name.length + 1) === `${name}\0`) return word(at + 8);
  }
  throw new Error(`the vDSO has no ${name}`);
}

/** x86-64 code that calls the kernel, then adds the seconds if the clock is CLOCK_REALTIME. */
function clockCode(seconds: number): Buffer {
  const amount = Buffer.alloc(4);
  amount.writeInt32LE(seconds);
  // push rdi, rsi; mov eax, 228; syscall; pop rsi, rdi; test edi, edi; jnz to ret; add qword [rsi], seconds; ret
  const [before, after] = ['5756b8e40000000f055e5f85ff7507488106', 'c3'].map((hex) =>
    Buffer.from(hex, 'hex'),
  );
  return Buffer.concat([before ?? amount, amount, after ?? amount]);
}

interface Patch {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  readonly code: Buffer;
  readonly memory: FileHandle;
}

/** While the function is being replaced, no thread may be inside it. */
async function writeWhileOutside(pid: number, { start, end, at, code, memory }: Patch): Promise<void> {
  for (;;) {
    process.kill(pid, 'SIGSTOP');
    try {
      await delay(20);
      const places = await threadPlaces(pid);
      const isOutside = places.every((place) => place !== undefined && (place < start || place >= end));
      if (isOutside) {
        await memory.write(code, 0, code.length, at);
        return;
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await delay(20);
  }
}

/** Returns each thread's next instruction. Undefined for a thread that has not stopped. */
async function threadPlaces(pid: number): Promise<readonly (number | undefined)[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  return Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/syscall`, 'utf8');
      const place = text.trim().split(' ').at(-1) ?? '';
      return place.startsWith('0x') ? Number.parseInt(place, 16) : undefined;
    }),
  );
}
