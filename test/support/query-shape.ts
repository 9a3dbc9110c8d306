export interface QueryShape {
  readonly collection: string;
  readonly operation: string;
  /**
   * The condition on each field: `=` (including $in), `range`, or `test` if an index cannot narrow the condition ($ne,
   * $exists: false, $size).
   */
  readonly filter: Readonly<Record<string, Condition>>;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  readonly file: string;
}

type Condition = '=' | 'range' | 'test';

export interface IndexKeys {
  readonly name: string;
  readonly key: Readonly<Record<string, number>>;
}

const ranges = new Set(['$gt', '$gte', '$lt', '$lte', '$regex']);

/** Merges $and and $or into one list of conditions. Numbers in paths become `N`. */
export function shapeOfFilter(filter: unknown): Record<string, Condition> {
  const shape: Record<string, Condition> = {};
  for (const [name, value] of Object.entries(isObject(filter) ? filter : {})) {
    if (Array.isArray(value) && name.startsWith('$')) {
      for (const part of value)
        for (const [key, found] of Object.entries(shapeOfFilter(part))) shape[key] ??= found;
    } else if (!name.startsWith('$')) {
      shape[name.replaceAll(/\.\d+/g, '.N')] = conditionOf(value);
    }
  }
  return shape;
}

function conditionOf(value: unknown): Condition {
  if (!isObject(value)) return '=';
  const operators = Object.keys(value).filter((name) => name.startsWith('$'));
  if (operators.length === 0 || operators.some((name) => name === '$eq' || name === '$in')) return '=';
  if (operators.some((name) => ranges.has(name)) || value['$exists'] === true) return 'range';
  return 'test';
}

/** True for a plain object, such as one with operators, but not for a driver value such as a Long or Date. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Returns the name of the index that serves a query. The filter must fix a prefix of the index's keys, followed by at
 * most one range, and the index must yield the order. If several indexes qualify, the longest prefix wins. Undefined if
 * the server would scan the whole collection or sort in memory.
 */
export function servingIndex(
  { filter, sort }: Pick<QueryShape, 'filter' | 'sort'>,
  indexes: readonly IndexKeys[],
): string | undefined {
  // A lookup by `_id` finds at most one document per value, so the order does not matter.
  if (filter['_id'] === '=') return '_id_';
  let best: { readonly name: string; readonly used: number } | undefined;
  for (const { name, key } of [{ name: '_id_', key: { _id: 1 } }, ...indexes]) {
    const used = usedKeys({ filter, sort }, Object.entries(key));
    if (used > (best?.used ?? 0)) best = { name, used };
  }
  return best?.name;
}

function usedKeys(
  { filter, sort }: Pick<QueryShape, 'filter' | 'sort'>,
  keys: readonly (readonly [string, number])[],
): number {
  const firstLoose = keys.findIndex(([field]) => filter[field] !== '=');
  const fixed = firstLoose < 0 ? keys.length : firstLoose;
  const wanted = Object.entries(sort).filter(([field]) => filter[field] !== '=');
  const rest = keys.slice(fixed);
  const turned = wanted.map(([field, direction], at) => {
    const [name, own] = rest[at] ?? [];
    return name === field && own !== undefined ? Math.sign(direction * own) : 0;
  });
  const inOrder = turned.every((sign) => sign !== 0 && sign === turned[0]);
  if (!inOrder) return 0;
  const ranged = filter[rest[0]?.[0] ?? ''] === 'range' ? 1 : 0;
  return fixed + Math.max(ranged, wanted.length);
}

export function describeShape({ collection, operation, filter, sort, file }: QueryShape): string {
  const conditions = Object.entries(filter)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([field, condition]) => `${field} ${condition}`);
  const order = Object.entries(sort).map(([field, direction]) => `${field} ${direction}`);
  const cells = [collection, operation, conditions.join(', '), order.join(', '), file];
  return `| ${cells.join(' | ')} |`;
}

export function parseShape(row: string): QueryShape {
  const [collection = '', operation = '', conditions = '', order = '', file = ''] = row
    .split('|')
    .slice(1)
    .map((cell) => cell.trim());
  const pairs = (text: string) => text.split(', ').flatMap((part) => (part === '' ? [] : [part.split(' ')]));
  return {
    collection,
    operation,
    filter: Object.fromEntries(
      pairs(conditions).map(([field = '', condition]) => [
        field,
        condition === '=' || condition === 'range' ? condition : 'test',
      ]),
    ),
    sort: Object.fromEntries(
      pairs(order).map(([field = '', direction]) => [field, direction === '-1' ? -1 : 1]),
    ),
    file,
  };
}
