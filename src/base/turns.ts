/**
 * Remembers in this process when each item or holder last got its turn, so that a loop that runs out of time does not
 * begin with the same items each time.
 */
export interface Turns<Item> {
  /** Returns the items that have never had a turn, and then those whose turn was longest ago. Forgets all others. */
  inOrder(items: Iterable<Item>): Item[];
  note(item: Item): void;
}

export function createTurns<Item>(idOf: (item: Item) => string): Turns<Item> {
  let turns = new Map<string, number>();
  let count = 0;
  return {
    inOrder(items) {
      const listed = [...items].map((item) => ({ item, id: idOf(item) }));
      turns = new Map(
        listed.flatMap(({ id }) => {
          const turn = turns.get(id);
          return turn === undefined ? [] : [[id, turn] as const];
        }),
      );
      const turnOf = (id: string): number => turns.get(id) ?? 0;
      return listed.toSorted((one, other) => turnOf(one.id) - turnOf(other.id)).map(({ item }) => item);
    },
    note(item) {
      count += 1;
      turns.set(idOf(item), count);
    },
  };
}
