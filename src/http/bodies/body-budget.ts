import { GatewayError } from '../../errors/errors.ts';

/** How many bytes the request bodies of one kind hold in this process, in memory or on disk, in all and for an account. */
export interface BodyBudget {
  /** For one request. */
  open(account: string): BodyAllowance;
  /** Bytes that are reserved now. */
  readonly reservedBytes: number;
}

/** What one request has reserved. */
export interface BodyAllowance {
  /**
   * Throws GatewayError: 429 when the account has too much, 503 when all have and nobody has more than this account.
   * Who has most makes room: the largest body that is still being read is cut.
   */
  reserve(bytes: number): void;
  /** Throws as `reserve` would, and reserves nothing: for what is needed later, if at all. Nobody is cut. */
  requireRoom(bytes: number): void;
  /** From now on `cut` ends it when it has to make room. Called with the reason, at most once. */
  whileRead(cut: (reason: GatewayError) => void): void;
  /** The body is complete: the request is carried out, and is not cut any more. */
  keep(): void;
  /** Gives everything back. Repeatable. */
  release(): void;
}

export interface BodyBudgetLimits {
  readonly bytesMax: number;
  readonly accountBytesMax: number;
}

/** Who uses it, so that none takes another's share: small JSON, images, and what upstreams say. */
export type BodyKind = 'json' | 'images' | 'callbacks';

/** Of the memory, and within it what one account may have. */
const memoryShares: Readonly<Record<BodyKind, number>> = { json: 0.4, images: 0.5, callbacks: 0.1 };
const accountShare = 0.75;

export interface BodyBudgets {
  readonly memory: Readonly<Record<BodyKind, BodyBudget>>;
  readonly disk: BodyBudget;
}

/** One budget of memory for each kind of body, and one of disk space for uploaded files. */
export function createBodyBudgets(limits: {
  readonly bodiesBytesMax: number;
  readonly uploadsBytesMax: number;
}): BodyBudgets {
  const budgetOf = (bytesMax: number): BodyBudget =>
    createBodyBudget({ bytesMax, accountBytesMax: bytesMax * accountShare });
  const memoryOf = (kind: BodyKind): BodyBudget => budgetOf(limits.bodiesBytesMax * memoryShares[kind]);
  return {
    memory: { json: memoryOf('json'), images: memoryOf('images'), callbacks: memoryOf('callbacks') },
    disk: budgetOf(limits.uploadsBytesMax),
  };
}

/** A body leaves memory when its request is answered, which takes seconds. */
const retrySeconds = 2;

interface Holding {
  bytes: number;
  cut?: ((reason: GatewayError) => void) | undefined;
}

interface Holder {
  bytes: number;
  readonly holdings: Set<Holding>;
}

export function createBodyBudget({ bytesMax, accountBytesMax }: BodyBudgetLimits): BodyBudget {
  const holders = new Map<string, Holder>();
  let total = 0;

  function add(account: string, holding: Holding, bytes: number): void {
    const holder = holders.get(account) ?? { bytes: 0, holdings: new Set() };
    holders.set(account, holder);
    total += bytes;
    holder.bytes += bytes;
    holding.bytes += bytes;
    if (holding.bytes > 0) holder.holdings.add(holding);
    else holder.holdings.delete(holding);
    if (holder.holdings.size === 0) holders.delete(account);
  }

  /** False: nobody who has more than `bytes` can be cut. */
  function makeRoom(bytes: number): boolean {
    const found = largestOfAll(holders, bytes);
    if (found === undefined) return false;
    const { account, holding } = found;
    const { cut } = holding;
    holding.cut = undefined;
    add(account, holding, -holding.bytes);
    cut?.(processExceeded());
    return true;
  }

  return {
    get reservedBytes() {
      return total;
    },
    open(account) {
      const own: Holding = { bytes: 0 };
      let isOpen = true;
      return {
        reserve(bytes) {
          if (!isOpen) return;
          const held = heldWith(bytes, holders.get(account), accountBytesMax);
          while (total + bytes > bytesMax) if (!makeRoom(held)) throw processExceeded();
          add(account, own, bytes);
        },
        requireRoom(bytes) {
          const held = heldWith(bytes, holders.get(account), accountBytesMax);
          if (total + bytes > bytesMax && largestOfAll(holders, held) === undefined) throw processExceeded();
        },
        whileRead(cut) {
          own.cut = (reason) => {
            isOpen = false;
            cut(reason);
          };
        },
        keep() {
          own.cut = undefined;
        },
        release() {
          isOpen = false;
          own.cut = undefined;
          add(account, own, -own.bytes);
        },
      };
    },
  };
}

function heldWith(bytes: number, holder: Holder | undefined, accountBytesMax: number): number {
  const held = (holder?.bytes ?? 0) + bytes;
  if (held > accountBytesMax) throw accountExceeded(accountBytesMax);
  return held;
}

/** The body to cut: of the account that holds most, and more than `bytes`. */
function largestOfAll(holders: ReadonlyMap<string, Holder>, bytes: number) {
  let most = bytes;
  let found: { readonly account: string; readonly holding: Holding } | undefined;
  for (const [account, holder] of holders) {
    const holding = holder.bytes > most ? largestOf(holder) : undefined;
    if (holding === undefined) continue;
    most = holder.bytes;
    found = { account, holding };
  }
  return found;
}

function largestOf({ holdings }: Holder): Holding | undefined {
  let largest: Holding | undefined;
  for (const holding of holdings) {
    if (holding.cut !== undefined && holding.bytes > (largest?.bytes ?? 0)) largest = holding;
  }
  return largest;
}

function accountExceeded(bytesMax: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `The requests of one account may hold at most ${bytesMax} bytes of bodies at once. Send fewer at a time.`,
    { retryAfterSeconds: retrySeconds },
  );
}

function processExceeded(): GatewayError {
  return new GatewayError('service_unavailable', 'Too many large requests are in progress. Try again.', {
    retryAfterSeconds: retrySeconds,
  });
}
