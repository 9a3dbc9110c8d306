import { createRounds } from '../process/rounds.ts';

/** When keys and tokens were last used: kept in memory and written once in a minute, never by a request. */
export interface LastUsed {
  /** Costs a write of memory. */
  note(id: string): void;
  /** Writes what was noted; every minute, until `stop`. Never rejects: what could not be written is noted again. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the rest. */
  stop(): Promise<void>;
}

export interface LastUsedDeps {
  /** Unix milliseconds by id; a later time that is stored already stays. */
  readonly write: (used: ReadonlyMap<string, number>) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

/** Those that are noted while MongoDB does not answer. */
const notedMax = 10_000;

export function createLastUsed({ write, onError, now }: LastUsedDeps): LastUsed {
  let noted = new Map<string, number>();

  async function work(): Promise<void> {
    if (noted.size === 0) return;
    const used = noted;
    noted = new Map();
    try {
      await write(used);
    } catch (error) {
      for (const [id, at] of used) if (!noted.has(id) && noted.size < notedMax) noted.set(id, at);
      throw error;
    }
  }

  const { run: flush, start, stop } = createRounds({ everyMs: 60_000, work, onError });
  return {
    note: (id) => void noted.set(id, now()),
    flush,
    start,
    stop: () => stop().then(flush),
  };
}
