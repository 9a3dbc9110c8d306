/** The part `k/n` of a list: its n parts are as equal as they can be, and together they are the list, in its order. */
export function portion<T>(list: readonly T[], part: string): readonly T[] {
  const [k, n] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(part)?.slice(1).map(Number) ?? [];
  if (k === undefined || n === undefined || k > n) throw new Error(`--part ${part} is not like 2/6`);
  const bound = (index: number) => Math.floor((index * list.length) / n);
  return list.slice(bound(k - 1), bound(k));
}
