import type { Micros } from './money.ts';

/** In UTC. `total` never ends. */
export const capWindows = ['day', 'month', 'total'] as const;
export type CapWindow = (typeof capWindows)[number];

/** A cap applies to a key, to a key's use of one model, or to an end user of the account. */
export type CapScope = 'key' | 'model' | 'end_user';

/** In micro-units, never negative. A window without a limit has no cap. */
export type Caps = { readonly [Window in CapWindow]?: Micros };

export interface KeyCaps {
  readonly all: Caps;
  readonly models: ReadonlyMap<string, Caps>;
}

export interface EndUserCaps {
  readonly default?: Caps;
  readonly named: ReadonlyMap<string, Caps>;
  readonly ignoreCase?: boolean;
}

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
  /** Charges minus refunds, plus open holds, in micro-units. */
  readonly used: Micros;
  readonly held: Micros;
  /** Unix milliseconds. Undefined if the window never resets. */
  readonly resetsAt?: number;
}

/** Excludes open holds. Refunds are already subtracted. */
export function chargedOf({ used, held }: Pick<WindowUse, 'used' | 'held'>): Micros {
  return used - held;
}

export type SpentUse = Readonly<Record<CapWindow, WindowUse>>;

/** `used` can exceed `limit`, because a charge may exceed its hold. */
export interface CapState extends Cap, WindowUse {
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

export function capStates(caps: readonly Cap[], uses: ReadonlyMap<CapScope, SpentUse>): CapState[] {
  return caps.flatMap((cap) => {
    const use = uses.get(cap.scope)?.[cap.window];
    if (use === undefined) return [];
    return [{ ...cap, ...use, left: cap.limit > use.used ? cap.limit - use.used : 0n }];
  });
}

export function refusingCap(states: readonly CapState[], amount: Micros): CapState | undefined {
  if (amount === 0n) return undefined;
  return tightest(states.filter(({ used, limit }) => used + amount > limit));
}

export function tightest(states: readonly CapState[]): CapState | undefined {
  return states.reduce<CapState | undefined>(
    (least, state) => (least === undefined || state.left < least.left ? state : least),
    undefined,
  );
}
