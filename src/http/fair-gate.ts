/** Lets a limited number of jobs run at once; those that wait take turns by account, not by arrival. */
export interface FairGate {
  /** Runs the job when it is its account's turn, and answers as it does. */
  run<Result>(account: string, job: () => Promise<Result>): Promise<Result>;
}

export interface FairGateLimits {
  readonly placesMax: number;
  /** What one account may use of them, however many are free: who comes next does not wait for all of its jobs. */
  readonly accountPlacesMax: number;
}

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

export function createFairGate({ placesMax, accountPlacesMax }: FairGateLimits): FairGate {
  /** Accounts with jobs that run or wait, in the order of their next turns. */
  const accounts = new Map<string, Turns>();
  let running = 0;

  /** Undefined: the place is free at once, and taken now. */
  function enter(account: string): Promise<void> | undefined {
    const turns = accounts.get(account) ?? { running: 0, waiting: [] };
    accounts.set(account, turns);
    if (running < placesMax && turns.running < accountPlacesMax) {
      take(turns);
      return undefined;
    }
    return new Promise((resolve) => turns.waiting.push(resolve));
  }

  function take(turns: Turns): void {
    running += 1;
    turns.running += 1;
  }

  function leave(account: string): void {
    const turns = accounts.get(account);
    if (turns === undefined) return;
    running -= 1;
    turns.running -= 1;
    // Behind all others, or gone.
    accounts.delete(account);
    if (turns.running > 0 || turns.waiting.length > 0) accounts.set(account, turns);
    admitNext();
  }

  function admitNext(): void {
    for (const turns of accounts.values()) {
      if (turns.waiting.length === 0 || turns.running >= accountPlacesMax) continue;
      const start = turns.waiting.shift();
      take(turns);
      start?.();
      return;
    }
  }

  return {
    async run(account, job) {
      const turn = enter(account);
      if (turn !== undefined) await turn;
      try {
        return await job();
      } finally {
        leave(account);
      }
    },
  };
}
