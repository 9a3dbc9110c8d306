import { capStates, type Cap, type CapScope, type CapState, type SpentUse } from './caps.ts';

export const capPercents = [50, 80, 100] as const;
export type CapPercent = (typeof capPercents)[number];

export interface SpentBy {
  readonly key?: string;
  readonly model?: string;
  readonly endUser?: string;
}

/** Usage per cap scope, as of a ledger entry. Contains only the scopes of that entry. */
export interface Spending {
  readonly by: SpentBy;
  readonly uses: ReadonlyMap<CapScope, SpentUse>;
  readonly at: number;
}

export interface ReachedCap {
  readonly percent: CapPercent;
  readonly cap: CapState;
  readonly by: SpentBy;
  readonly at: number;
}

export function reachedCaps({ by, uses, at }: Spending, caps: readonly Cap[]): ReachedCap[] {
  return capStates(caps, uses).flatMap((cap) =>
    percentsOf(cap).map((percent) => ({ percent, cap, by: partOf(cap.scope, by), at })),
  );
}

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

/** Unique within the account. A new limit or window has a new name, so it is reported again. */
export function windowName({ cap, by }: Pick<ReachedCap, 'cap' | 'by'>): string {
  const { key, model, endUser } = partOf(cap.scope, by);
  const whose = [key, model, endUser].filter((part) => part !== undefined).join('/');
  return [cap.scope, whose, cap.window, cap.resetsAt ?? '', cap.limit].join('/');
}
