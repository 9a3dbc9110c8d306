import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';

const lineSchema = z.union([
  z.object({ dialect: z.string(), task: z.looseObject({ id: z.string() }) }),
  z.object({ dialect: z.string(), id: z.string(), cancelledAt: z.number() }),
  z.object({ dialect: z.string(), id: z.string(), gone: z.literal(true) }),
]);
export type StateLine = z.infer<typeof lineSchema>;

const rewriteAfterBytes = 64 * 1024 * 1024;

/**
 * Each line of JSON is appended before the response is sent. Lines are not fsynced, so they survive a kill of the
 * process but not a power failure.
 */
export class StateFile {
  readonly #path: string;
  readonly #snapshots: (() => Iterable<StateLine>)[] = [];
  #descriptor: number;
  #appendedBytes = 0;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#descriptor = openSync(path, 'a');
  }

  read(dialect: string): StateLine[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .flatMap(parseLine)
      .filter((line) => line.dialect === dialect);
  }

  keep(snapshot: () => Iterable<StateLine>): void {
    this.#snapshots.push(snapshot);
  }

  append(line: StateLine): void {
    this.#appendedBytes += writeSync(this.#descriptor, `${JSON.stringify(line)}\n`);
    if (this.#appendedBytes > rewriteAfterBytes) this.rewrite();
  }

  rewrite(): void {
    const lines = this.#snapshots.flatMap((snapshot) =>
      Array.from(snapshot(), (line) => `${JSON.stringify(line)}\n`),
    );
    const draft = `${this.#path}.new`;
    writeFileSync(draft, lines.join(''));
    closeSync(this.#descriptor);
    renameSync(draft, this.#path);
    this.#descriptor = openSync(this.#path, 'a');
    this.#appendedBytes = 0;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function parseLine(text: string): StateLine[] {
  if (text === '') return [];
  try {
    const parsed = lineSchema.safeParse(JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
