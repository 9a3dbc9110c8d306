/**
 * Under load, callers share their reads: those who come while reads are in flight are served together by the next
 * one. Nobody gets what was read before they asked, and nobody waits for a read that hangs.
 */
export interface Reads<Value> {
  readonly one: (id: string) => Promise<Value | undefined>;
  /** Those that were found, by id. One that is missing is asked for alone: a reply has a largest size. */
  readonly many: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
}

/** So many are in flight at once before others are gathered: alone, nobody waits. */
const directMax = 2;
/** A gathered read leaves as soon as another one is back, and after this time whatever the others do. */
const gatherMs = 2;
const gatheredMax = 100;

interface Gathering<Value> {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, Value>>;
  readonly leave: () => void;
}

export function gatherReads<Value>({ one, many }: Reads<Value>): (id: string) => Promise<Value | undefined> {
  let gathering: Gathering<Value> | undefined;
  let inFlight = 0;

  async function count<Result>(reading: Promise<Result>): Promise<Result> {
    inFlight += 1;
    try {
      return await reading;
    } finally {
      inFlight -= 1;
      gathering?.leave();
    }
  }

  function gather(): Gathering<Value> {
    const ids = new Set<string>();
    let leave = (): void => undefined;
    const found = new Promise<ReadonlyMap<string, Value>>((resolve) => {
      const timer = setTimeout(() => leave(), gatherMs);
      leave = () => {
        clearTimeout(timer);
        gathering = undefined;
        resolve(count(many([...ids])));
      };
    });
    return { ids, found, leave };
  }

  return async (id) => {
    if (gathering === undefined && inFlight < directMax) return count(one(id));
    gathering ??= gather();
    const { ids, found, leave } = gathering;
    ids.add(id);
    if (ids.size >= gatheredMax) leave();
    return (await found).get(id) ?? count(one(id));
  };
}
