/**
 * Remembers when this process last handled each item. A loop that runs out of time can then begin with other items the
 * next time.
 */
export interface Turns<Item> {
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
