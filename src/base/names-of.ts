/** Like `Object.keys`, but keeps the type of the keys. */
export function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[];
export function namesOf(table: object): readonly string[] {
  return Object.keys(table);
}
