import { capStates } from './caps.ts';
import type { Cap, CapScope, CapState, SpentUse } from './caps.ts';

/** The per cents of a cap that are reported to its account. */
export const capPercents = [50, 80, 100] as const;
export type CapPercent = (typeof capPercents)[number];

/** Whose spending it is, as the ledger names them. */
export interface SpentBy {
  readonly key?: string;
  readonly model?: string;
  readonly endUser?: string;
}

/** What had been used in the scopes of an entry once it was written. Absent scopes: the entry does not count in them. */
export interface Spending {
  readonly by: SpentBy;
  readonly uses: ReadonlyMap<CapScope, SpentUse>;
  /** Unix milliseconds. */
  readonly at: number;
}

/** That a cap has reached a percentage in its window. */
export interface ReachedCap {
  readonly percent: CapPercent;
  /** With what was used then. */
  readonly cap: CapState;
  readonly by: SpentBy;
  /** Unix milliseconds. */
  readonly at: number;
}

/** One for each percentage that is reached; none while nothing is used. */
export function reachedCaps({ by, uses, at }: Spending, caps: readonly Cap[]): ReachedCap[] {
  return capStates(caps, uses).flatMap((cap) =>
    percentsOf(cap).map((percent) => ({ percent, cap, by: partOf(cap.scope, by), at })),
  );
}

/** The highest percentage that is reached by what is used now. */
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

/** Names a window of a cap in its account. The same cap with another limit, or in the next window, has another name. */
export function windowName({ cap, by }: Pick<ReachedCap, 'cap' | 'by'>): string {
  const { key, model, endUser } = partOf(cap.scope, by);
  const whose = [key, model, endUser].filter((part) => part !== undefined).join('/');
  return [cap.scope, whose, cap.window, cap.resetsAt ?? '', cap.limit].join('/');
}
