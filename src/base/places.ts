/**
 * Holders in a process share these resources. docs/capacity.md describes each one, and a test checks that no holder can
 * take the others' share.
 */
export const sharedPlaces = [
  'unauthenticated connections',
  'connections of callers',
  'credentials looked up',
  'requests of a key',
  'creates',
  'waiting requests',
  'reports',
  'bodies of json',
  'bodies of images',
  'bodies of callbacks',
  'uploads on disk',
  'fetched files',
  'fetched images',
  'partial images read',
  'lists read',
  'image calls to an origin',
  'images not stored yet',
  'media threads',
  'callbacks of an account',
  'callbacks to an origin',
  'first callbacks',
  'copies retried',
  'copies for upstreams',
  'uploads deleted',
  'attempts that poll in a worker',
] as const;

export type SharedPlaces = (typeof sharedPlaces)[number];

/**
 * Shares a limited number of slots fairly among holders such as accounts, IP addresses or channels. A free slot goes to
 * the waiting holder with the fewest slots. If none is free, the holder with the most may lose one.
 */
export interface Places {
  readonly name: SharedPlaces;
  /** Takes a slot without waiting. If there is none, returns the reason. */
  take(holder: string, options?: TakeOptions): Place | Refusal;
  wait(holder: string, signal?: AbortSignal): Promise<Place | undefined>;
  run<Result>(holder: string, job: () => Promise<Result>): Promise<Result>;
  run<Result>(holder: string, job: () => Promise<Result>, signal: AbortSignal): Promise<Result | undefined>;
  refusal(holder: string, size: number): Refusal | undefined;
  readonly held: number;
  heldBy(holder: string): number;
}

/**
 * `share` means that the holder would exceed `shareMax`. `full` means that there is no room and that nothing can be
 * evicted for this holder.
 */
export type Refusal = 'share' | 'full';

export interface Place {
  readonly size: number;
  /** Returns undefined on success. A refusal leaves the size unchanged. Shrinking always succeeds. */
  resize(size: number): Refusal | undefined;
  /** Decides how readily the slot is evicted when none is free. Initially `busy`. */
  mark(use: Use): void;
  /** Safe to call twice, or after an eviction. */
  leave(): void;
}

/** Slots are evicted in this order. A slot that is `kept` or has no `evict` is never evicted. */
const uses = ['unused', 'idle', 'busy'] as const;

export type Use = (typeof uses)[number] | 'kept';

export interface TakeOptions {
  readonly size?: number;
  readonly evict?: () => void;
}

export interface PlacesOptions {
  readonly name: SharedPlaces;
  readonly placesMax: number;
  readonly shareMax?: number;
  /** How many slots are kept free for holders that have none. */
  readonly reserve?: number;
  /**
   * Decides which holder loses a slot when none is free. `more` (the default) picks the largest holder that has more
   * slots than the newcomer would have. `any` picks the largest holder, even if that is the newcomer.
   */
  readonly evicts?: 'more' | 'any';
}

export function createPlaces(options: PlacesOptions): Places {
  return new HeldPlaces(options);
}

interface Holder {
  readonly name: string;
  size: number;
  count: number;
  readonly evictable: Readonly<Record<(typeof uses)[number], Set<HeldPlace>>>;
  readonly waiting: Set<() => void>;
}

class HeldPlaces implements Places {
  private readonly options: PlacesOptions;
  /**
   * Ordered by when each holder last freed a slot, longest ago first. Among waiting holders with equally many slots,
   * the first one wins.
   */
  private readonly holders = new Map<string, Holder>();
  readonly name: SharedPlaces;
  held = 0;

  constructor(options: PlacesOptions) {
    this.name = options.name;
    this.options = options;
  }

  take(name: string, { size = 1, evict }: TakeOptions = {}): Place | Refusal {
    const refused = this.makeRoom(this.holderOf(name), size);
    return refused ?? this.open(name, size, evict);
  }

  refusal(name: string, more: number): Refusal | undefined {
    const holder = this.holderOf(name);
    if (this.isShareUsed(holder, more)) return 'share';
    const fits = this.roomFor(holder) >= more || this.largest(this.leastOf(holder, more)) !== undefined;
    return fits ? undefined : 'full';
  }

  heldBy(name: string): number {
    return this.holderOf(name).size;
  }

  run<Result>(name: string, job: () => Promise<Result>): Promise<Result>;
  run<Result>(name: string, job: () => Promise<Result>, signal: AbortSignal): Promise<Result | undefined>;
  async run<Result>(name: string, job: () => Promise<Result>, signal?: AbortSignal) {
    const place = await this.wait(name, signal);
    if (place === undefined) return undefined;
    try {
      return await job();
    } finally {
      place.leave();
    }
  }

  /** The slot is taken before the promise resolves, so that no other caller can get it first. */
  wait(name: string, signal?: AbortSignal): Promise<Place | undefined> {
    if (signal?.aborted === true) return Promise.resolve(undefined);
    const holder = this.holderOf(name);
    if (this.fits(holder)) return Promise.resolve(this.open(name, 1));
    this.holders.set(name, holder);
    return new Promise((resolve) => {
      const giveUp = (): void => {
        holder.waiting.delete(start);
        this.forget(holder);
        resolve(undefined);
      };
      const start = (): void => {
        holder.waiting.delete(start);
        signal?.removeEventListener('abort', giveUp);
        resolve(this.open(name, 1));
      };
      holder.waiting.add(start);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  makeRoom(holder: Holder, more: number): Refusal | undefined {
    if (this.isShareUsed(holder, more)) return 'share';
    while (this.roomFor(holder) < more) {
      const place = this.largest(this.leastOf(holder, more));
      if (place === undefined) return 'full';
      place.evict();
    }
    return undefined;
  }

  settle(holder: Holder): void {
    this.forget(holder);
    if (this.holders.delete(holder.name)) this.holders.set(holder.name, holder);
    for (let start = this.nextWaiting(); start !== undefined; start = this.nextWaiting()) start();
  }

  private open(name: string, size: number, evict?: () => void): HeldPlace {
    const holder = this.holderOf(name);
    this.holders.set(name, holder);
    return new HeldPlace(this, { holder, size, evict });
  }

  private holderOf(name: string): Holder {
    return (
      this.holders.get(name) ?? {
        name,
        size: 0,
        count: 0,
        evictable: { unused: new Set(), idle: new Set(), busy: new Set() },
        waiting: new Set(),
      }
    );
  }

  private forget(holder: Holder): void {
    if (holder.count === 0 && holder.waiting.size === 0) this.holders.delete(holder.name);
  }

  private isShareUsed({ size }: Holder, more: number): boolean {
    return size + more > (this.options.shareMax ?? Infinity);
  }

  private roomFor({ size }: Holder): number {
    const { placesMax, reserve = 0 } = this.options;
    return (size === 0 ? placesMax : placesMax - reserve) - this.held;
  }

  private fits(holder: Holder): boolean {
    return !this.isShareUsed(holder, 1) && this.roomFor(holder) >= 1;
  }

  private leastOf({ size }: Holder, more: number): number {
    return this.options.evicts === 'any' ? 0 : size + more;
  }

  private largest(least: number): HeldPlace | undefined {
    let most = least;
    let found: HeldPlace | undefined;
    for (const { size, evictable } of this.holders.values()) {
      const use = size > most ? uses.find((each) => evictable[each].size > 0) : undefined;
      const place = use && largestOf(evictable[use]);
      if (place === undefined) continue;
      most = size;
      found = place;
    }
    return found;
  }

  private nextWaiting(): (() => void) | undefined {
    let found: Holder | undefined;
    for (const holder of this.holders.values()) {
      const isNext = holder.waiting.size > 0 && (found === undefined || holder.size < found.size);
      if (isNext && this.fits(holder)) found = holder;
    }
    return found?.waiting.values().next().value;
  }
}

interface PlaceState {
  readonly holder: Holder;
  readonly size: number;
  readonly evict: (() => void) | undefined;
}

class HeldPlace implements Place {
  private readonly places: HeldPlaces;
  private readonly holder: Holder;
  private readonly onEvict: (() => void) | undefined;
  private isOpen = true;
  size = 0;

  constructor(places: HeldPlaces, { holder, size, evict }: PlaceState) {
    this.places = places;
    this.holder = holder;
    this.onEvict = evict;
    holder.count += 1;
    this.setSize(size);
    this.mark('busy');
  }

  resize(size: number): Refusal | undefined {
    const more = size - this.size;
    const refused = this.isOpen && more > 0 ? this.places.makeRoom(this.holder, more) : undefined;
    // Making room for the larger size may have evicted this slot itself.
    if (!this.isOpen) return 'full';
    if (refused !== undefined) return refused;
    this.setSize(size);
    if (more < 0) this.places.settle(this.holder);
    return undefined;
  }

  mark(use: Use): void {
    const { evictable } = this.holder;
    for (const each of uses) evictable[each].delete(this);
    if (this.isOpen && use !== 'kept' && this.onEvict !== undefined) evictable[use].add(this);
  }

  leave(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.mark('kept');
    this.setSize(0);
    this.holder.count -= 1;
    this.places.settle(this.holder);
  }

  evict(): void {
    this.leave();
    this.onEvict?.();
  }

  private setSize(size: number): void {
    this.places.held += size - this.size;
    this.holder.size += size - this.size;
    this.size = size;
  }
}

function largestOf(places: ReadonlySet<HeldPlace>): HeldPlace | undefined {
  let found: HeldPlace | undefined;
  for (const place of places) if (found === undefined || place.size > found.size) found = place;
  return found;
}
