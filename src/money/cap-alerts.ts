import { capStates } from './caps.ts';
import type { Cap, CapScope, CapState, SpentUse } from './caps.ts';

/** The percentages of a cap that are reported to its account. */
export const capPercents = [50, 80, 100] as const;
export type CapPercent = (typeof capPercents)[number];

/** The key, model and end user that spent, as the ledger names them. */
export interface SpentBy {
  readonly key?: string;
  readonly model?: string;
  readonly endUser?: string;
}

/** What the scopes of an entry had used after it. A scope is absent if the entry does not count in it. */
export interface Spending {
  readonly by: SpentBy;
  readonly uses: ReadonlyMap<CapScope, SpentUse>;
  /** Unix milliseconds. */
  readonly at: number;
}

/** A cap that has reached a percentage in its window. */
export interface ReachedCap {
  readonly percent: CapPercent;
  /** The cap with what was used at that time. */
  readonly cap: CapState;
  readonly by: SpentBy;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Returns one item for each percentage that is reached, and none while nothing is used. */
export function reachedCaps({ by, uses, at }: Spending, caps: readonly Cap[]): ReachedCap[] {
  return capStates(caps, uses).flatMap((cap) =>
    percentsOf(cap).map((percent) => ({ percent, cap, by: partOf(cap.scope, by), at })),
  );
}

/** The highest percentage that the present use reaches. */
export function highestReached(cap: Pick<CapState, 'limit' | 'used'>): CapPercent | undefined {
  return percentsOf(cap).at(-1);
}

function percentsOf({ limit, used }: Pick<CapState, 'limit' | 'used'>): CapPercent[] {
  return capPercents.filter((percent) => used > 0n && used * 100n >= limit * BigInt(percent));
}

function partOf(scope: CapScope, { key = '', model = '', endUser = '' }: SpentBy): SpentBy {
  switch (scope) {
    case 'key':
      return { key };
    case 'model':
      return { key, model };
    case 'end_user':
      return { endUser };
    default:
      return scope satisfies never;
  }
}

/** Identifies a window of a cap in its account. A new limit and the next window each give another name. */
export function windowName({ cap, by }: Pick<ReachedCap, 'cap' | 'by'>): string {
  const { key, model, endUser } = partOf(cap.scope, by);
  const whose = [key, model, endUser].filter((part) => part !== undefined).join('/');
  return [cap.scope, whose, cap.window, cap.resetsAt ?? '', cap.limit].join('/');
}
