/** A limited number of places for those who wait, shared between accounts. */
export interface WaitPlaces<Holder extends PlaceHolder> {
  /** All holders, in no particular order. */
  readonly holders: ReadonlySet<Holder>;
  /** False: the account has its share of the places, and all are taken. */
  makeRoom(account: string): boolean;
  add(holder: Holder): void;
  remove(holder: Holder): void;
}

export interface PlaceHolder {
  readonly account: string;
  /** Called when the holder has to go; it is removed by then, or removes itself. */
  readonly evict: () => void;
}

export function createWaitPlaces<Holder extends PlaceHolder>(placesMax: number): WaitPlaces<Holder> {
  const holders = new Set<Holder>();
  const perAccount = new Map<string, Set<Holder>>();
  return {
    holders,

    /** When all are taken, the account that has most of them loses its oldest to one that has fewer. */
    makeRoom(account) {
      if (holders.size < placesMax) return true;
      let largest: ReadonlySet<Holder> = new Set();
      for (const own of perAccount.values()) if (own.size > largest.size) largest = own;
      if ((perAccount.get(account)?.size ?? 0) + 1 >= largest.size) return false;
      const [oldest] = largest;
      oldest?.evict();
      return true;
    },

    add(holder) {
      holders.add(holder);
      const own = perAccount.get(holder.account) ?? new Set();
      perAccount.set(holder.account, own.add(holder));
    },

    remove(holder) {
      holders.delete(holder);
      const own = perAccount.get(holder.account);
      own?.delete(holder);
      if (own?.size === 0) perAccount.delete(holder.account);
    },
  };
}
