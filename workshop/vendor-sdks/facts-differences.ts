import { originOf, parameterNames, type FactsTable } from '../../src/models/facts-table.ts';
import type { PlainFacts } from '../../src/models/model-facts.ts';
import type { Listed, SdkList } from './sdk-lists.ts';
import type { Literals } from './type-literals.ts';

export interface ReadList extends Omit<SdkList, 'sdk'> {
  readonly sdk: string;
  readonly version: string;
  readonly read: Literals;
}

interface Compared {
  readonly vendor: string;
  readonly kind: string;
  readonly table: FactsTable;
  readonly lists: readonly ReadList[];
  readonly offered: readonly string[];
}

export function factsDifferences(compared: Compared): string[] {
  const { vendor, kind, lists } = compared;
  const said = [
    ...lists.flatMap(unreadable),
    ...lists.flatMap((list) =>
      list.lists === 'models' ? newModels(list, compared) : values(list, compared),
    ),
    ...goneModels(compared),
  ];
  return [...new Set(said)].map((sentence) => `${vendor}, ${kind}: ${sentence}`);
}

function unreadable({ read, sdk, version, type }: ReadList): string[] {
  return 'unreadable' in read ? [`${type} of ${sdk} ${version} cannot be read: ${read.unreadable}`] : [];
}

function literalsOf({ read, only }: ReadList): readonly string[] {
  const all = 'unreadable' in read ? [] : read;
  return only === undefined ? all : all.filter((name) => only.test(name));
}

function newModels(list: ReadList, { table }: Compared): string[] {
  return literalsOf(list)
    .filter((name) => !isKnown(name, table) && !Object.hasOwn(list.differs ?? {}, name))
    .map((name) => `${name} is new: ${list.sdk} ${list.version} has it, but the table does not`);
}

function isKnown(name: string, table: FactsTable): boolean {
  const { models, retired, unoffered = [] } = table;
  const patterns = [...models, ...(retired?.models ?? []), ...unoffered].map(([pattern]) => pattern);
  return patterns.some((pattern) => pattern.test(name));
}

/** Finds rows and offered models that are no longer listed by any SDK. */
function goneModels({ table, lists, offered }: Compared): string[] {
  const listing = lists.filter(({ lists: what }) => what === 'models');
  if (listing.some(({ read }) => 'unreadable' in read)) return [];
  const names = listing.flatMap(literalsOf);
  const comesFromThem = (source: string) => listing.some(({ sdk }) => source.includes(sdk));
  const rows = table.models.flatMap(([pattern, , origin = table.origin]) =>
    comesFromThem(origin.source) && !names.some((name) => pattern.test(name)) ? [String(pattern)] : [],
  );
  const models = offered.filter((name) => {
    const { source = '', retirement } = originOf(table, name) ?? {};
    return comesFromThem(source) && retirement === undefined && !names.includes(name);
  });
  return [...rows, ...models].map((name) => `${name} is gone: no SDK has it any more`);
}

function values(list: ReadList, { table }: Compared): string[] {
  const listed = literalsOf(list);
  const own = ownValues(list, table);
  const { sdk, version, lists, differs = {} } = list;
  if (listed.length === 0 || own === undefined) return [];
  const isRight = (value: string) =>
    Object.hasOwn(differs, value) || (table.unoffered ?? []).some(([name]) => name.test(value));
  const lacking = listed.filter((value) => !own.has(value) && !isRight(value));
  const extra = [...own].filter((value) => !listed.includes(value) && !isRight(value));
  return [
    ...lacking.map((value) => `${lists}: ${value} is in ${sdk} ${version}, but not in the table`),
    ...(lists === 'parameters' ? [] : extra).map(
      (value) => `${lists}: ${value} is in the table, but not in ${sdk} ${version}`,
    ),
  ];
}

function ownValues({ lists, of }: ReadList, table: FactsTable): ReadonlySet<string> | undefined {
  if (lists === 'parameters') return new Set(parameterNames(table));
  const rows = table.models.filter(([pattern]) => of === undefined || of.some((name) => pattern.test(name)));
  const plain = rows.flatMap(([, { cases = [], ...facts }]): PlainFacts[] => [
    facts,
    ...cases.map((one) => one.facts),
  ]);
  const found = plain.flatMap((facts) => valuesIn(facts, lists));
  return found.length === 0 ? undefined : new Set(found);
}

function valuesIn(facts: PlainFacts, lists: Listed): readonly string[] {
  const { resolutions = [], ratios = [], seconds, sizes, qualities = [], parameters = {} } = facts;
  switch (lists) {
    case 'resolutions':
      return resolutions;
    case 'ratios':
      return [...ratios, ...(sizes?.ratios ?? [])];
    case 'seconds':
      return (seconds?.only ?? []).map((count) => `${count}s`);
    case 'qualities':
      return qualities;
    case 'sizes':
      return sizes?.only ?? [];
    case 'models':
    case 'parameters':
      return [];
    default:
      return (parameters[lists.slice('parameters.'.length)]?.values ?? []).map(String);
  }
}
