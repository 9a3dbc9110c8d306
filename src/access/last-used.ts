import { periods } from '../base/periods.ts';
import { createRounds } from '../process/rounds.ts';
import type { LastUses } from '../store/last-uses.ts';

/** Times are written once a minute, so no request waits for the write. */
export interface LastUsed {
  note(id: string): void;
  /** Never rejects. The next flush includes times that could not be written. */
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface LastUsedDeps {
  /** Writes times in Unix milliseconds. Must never replace a later time. */
  readonly write: (uses: LastUses) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

const notedMax = 10_000;

export function createLastUsed({ write, onError, now }: LastUsedDeps): LastUsed {
  let noted = new Map<string, number>();

  async function work(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await write(uses);
    } catch (error) {
      for (const [id, at] of uses) if (!noted.has(id) && noted.size < notedMax) noted.set(id, at);
      throw error;
    }
  }

  const { run: flush, start, stop } = createRounds({ ...periods.lastUses, work, onError });
  return {
    note: (id) => void noted.set(id, now()),
    flush,
    start,
    stop: () => stop().then(flush),
  };
}
