/** Returns the table's own keys, in order and with their type. */
export function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[];
export function namesOf(table: object): readonly string[] {
  return Object.keys(table);
}
