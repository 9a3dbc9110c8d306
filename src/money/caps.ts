import type { Micros } from './money.ts';

/** UTC days and calendar months; `total`: for ever. */
export const capWindows = ['day', 'month', 'total'] as const;
export type CapWindow = (typeof capWindows)[number];

/** Whose spending a cap limits: a key's, that of a key with one model, or an end user's in the account. */
export type CapScope = 'key' | 'model' | 'end_user';

/** The most that may be spent in each window. Micro-units, not negative; absent: no cap. */
export type Caps = { readonly [Window in CapWindow]?: Micros };

/** What a key may spend in all, and on single models. */
export interface KeyCaps {
  readonly all: Caps;
  readonly models: ReadonlyMap<string, Caps>;
}

/** What each end user of an account may spend; one who is not named, as much as the default says. */
export interface EndUserCaps {
  readonly default?: Caps;
  /** The caps of single end users, keyed by `endUserName`. */
  readonly named: ReadonlyMap<string, Caps>;
  /** Whether names that differ only in case count as one end user. */
  readonly ignoreCase?: boolean;
}

/** Returns the name under which an end user's spending is counted. */
export function endUserName(
  user: string,
  { ignoreCase = false }: Pick<EndUserCaps, 'ignoreCase'> = {},
): string {
  return ignoreCase ? user.toLowerCase() : user;
}

export interface Cap {
  readonly scope: CapScope;
  readonly window: CapWindow;
  readonly limit: Micros;
}

interface WindowUse {
  /** Micro-units: charges less refunds, plus open holds, of the requests in the window. */
  readonly used: Micros;
  readonly held: Micros;
  /** Unix milliseconds; absent: never. */
  readonly resetsAt?: number;
}

/** The part of `used` that is charged, less refunds: `used = charged + held`. */
export function chargedOf({ used, held }: Pick<WindowUse, 'used' | 'held'>): Micros {
  return used - held;
}

export type SpentUse = Readonly<Record<CapWindow, WindowUse>>;

/** A charge beyond its hold may take what is used above the limit. */
export interface CapState extends Cap, WindowUse {
  /** Micro-units, never negative. */
  readonly left: Micros;
}

export function capsOf(scope: CapScope, caps: Caps | undefined): Cap[] {
  return capWindows.flatMap((window) => {
    const limit = caps?.[window];
    return limit === undefined ? [] : [{ scope, window, limit }];
  });
}

export function capsOfEndUser(caps: EndUserCaps | undefined, user: string | undefined): Cap[] {
  if (user === undefined) return [];
  return capsOf('end_user', caps?.named.get(endUserName(user, caps)) ?? caps?.default);
}

/** Caps of a scope that is not in use are left out. */
export function capStates(caps: readonly Cap[], uses: ReadonlyMap<CapScope, SpentUse>): CapState[] {
  return caps.flatMap((cap) => {
    const use = uses.get(cap.scope)?.[cap.window];
    if (use === undefined) return [];
    return [{ ...cap, ...use, left: cap.limit > use.used ? cap.limit - use.used : 0n }];
  });
}

/** Of the caps that this amount does not fit into, the one that has least left. What costs nothing fits into each. */
export function refusingCap(states: readonly CapState[], amount: Micros): CapState | undefined {
  if (amount === 0n) return undefined;
  return tightest(states.filter(({ used, limit }) => used + amount > limit));
}

/** The cap that has least left. Undefined: there is none. */
export function tightest(states: readonly CapState[]): CapState | undefined {
  return states.reduce<CapState | undefined>(
    (least, state) => (least === undefined || state.left < least.left ? state : least),
    undefined,
  );
}
