export interface Reads<Value> {
  readonly one: (id: string) => Promise<Value | undefined>;
  /** The result may lack some ids, because the size of replies is limited. Those are then read individually. */
  readonly many: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
}

/** While fewer reads than this are in flight, a read is sent immediately. */
const directMax = 2;
/** A gathered read starts as soon as another read returns, or after this time at the latest. */
const gatherMs = 2;
const gatheredMax = 100;

interface Gathering<Value> {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, Value>>;
  readonly leave: () => void;
}

/**
 * Under load, requests that arrive while reads are in flight share the next read. No caller gets a result that was read
 * before its request, and no caller waits for a read that hangs.
 */
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
