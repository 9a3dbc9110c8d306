import type { Micros } from './money.ts';

/** The cap windows: UTC days and calendar months, and `total`, which has no end. */
export const capWindows = ['day', 'month', 'total'] as const;
export type CapWindow = (typeof capWindows)[number];

/** The subject of a cap: a key, a key's use of one model, or an end user of the account. */
export type CapScope = 'key' | 'model' | 'end_user';

/** The maximum spending per window in micro-units, never negative. A missing window has no cap. */
export type Caps = { readonly [Window in CapWindow]?: Micros };

/** The caps on a key as a whole and on its use of individual models. */
export interface KeyCaps {
  readonly all: Caps;
  readonly models: ReadonlyMap<string, Caps>;
}

/** The caps on each end user of an account. The default applies to end users without caps of their own. */
export interface EndUserCaps {
  readonly default?: Caps;
  /** The caps for individual end users, keyed by `endUserName`. */
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
  /** The used amount in micro-units: the charges minus refunds, plus open holds, of the window's requests. */
  readonly used: Micros;
  readonly held: Micros;
  /** The reset time in Unix milliseconds. Absent if the window never resets. */
  readonly resetsAt?: number;
}

/** Returns the charged part of `used`, minus refunds: `used = charged + held`. */
export function chargedOf({ used, held }: Pick<WindowUse, 'used' | 'held'>): Micros {
  return used - held;
}

export type SpentUse = Readonly<Record<CapWindow, WindowUse>>;

/** A cap's current state. A charge above its hold can raise the used amount above the limit. */
export interface CapState extends Cap, WindowUse {
  /** The remaining amount in micro-units, never negative. */
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

/** Returns the caps' states. Omits caps whose scope has no recorded use. */
export function capStates(caps: readonly Cap[], uses: ReadonlyMap<CapScope, SpentUse>): CapState[] {
  return caps.flatMap((cap) => {
    const use = uses.get(cap.scope)?.[cap.window];
    if (use === undefined) return [];
    return [{ ...cap, ...use, left: cap.limit > use.used ? cap.limit - use.used : 0n }];
  });
}

/** Returns the cap with the least left among those that this amount would exceed. An amount of zero exceeds none. */
export function refusingCap(states: readonly CapState[], amount: Micros): CapState | undefined {
  if (amount === 0n) return undefined;
  return tightest(states.filter(({ used, limit }) => used + amount > limit));
}

/** Returns the cap with the least left, or undefined if there is none. */
export function tightest(states: readonly CapState[]): CapState | undefined {
  return states.reduce<CapState | undefined>(
    (least, state) => (least === undefined || state.left < least.left ? state : least),
    undefined,
  );
}
