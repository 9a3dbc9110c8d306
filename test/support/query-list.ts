import { readFileSync, writeFileSync } from 'node:fs';
import { describeShape, parseShape, servingIndex, type IndexKeys, type QueryShape } from './query-shape.ts';

const page = new URL('../../docs/queries.md', import.meta.url);

export const isRecording = process.env['RECORD_QUERIES'] !== undefined;

const intro = `# Queries

This page shows developers every query that the gateway sends to MongoDB, without values, and the index that serves it.
A query without an index fails its test file. To update the page, run \`RECORD_QUERIES=1 npm test\` and review the difference.

In a filter, \`=\` is one value or a list of values, \`range\` a range, and \`test\` a condition for which no index helps. For an
upsert or a guarded update, the page shows the filter that finds the document.

| collection | operation | filter | sort | file | index |
|---|---|---|---|---|---|
`;

export function readQueryList(): ReadonlySet<string> {
  const rows = queryListText()
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| collection'));
  return new Set(rows.map((row) => describeShape(parseShape(row))));
}

export type Indexes = ReadonlyMap<string, readonly IndexKeys[]>;

export function writeQueryList(rows: readonly string[], indexes: Indexes): void {
  writeFileSync(page, renderQueryList(rows, indexes));
}

export function renderQueryList(rows: readonly string[], indexes: Indexes): string {
  const queries = rows.toSorted().map((row) => `${row} ${servedBy(parseShape(row), indexes) ?? 'NONE'} |\n`);
  const declared = [...indexes]
    .flatMap(([collection, list]) =>
      list.map(({ name, key }) => {
        const keys = Object.entries(key).map(([field, direction]) => `${field} ${direction}`);
        return `- ${collection}.${name}: ${keys.join(', ')}\n`;
      }),
    )
    .toSorted();
  return `${intro}${queries.join('')}\n## Indexes\n\n${declared.join('')}`;
}

export function readIndexes(): Indexes {
  const indexes = new Map<string, IndexKeys[]>();
  for (const [, collection = '', name = '', keys = ''] of queryListText().matchAll(
    /^- (\w+)\.(\w+): (.*)$/gm,
  )) {
    const key = Object.fromEntries(
      keys.split(', ').map((part) => {
        const [field = '', direction] = part.split(' ');
        return [field, Number(direction)];
      }),
    );
    indexes.set(collection, [...(indexes.get(collection) ?? []), { name, key }]);
  }
  return indexes;
}

export function servedBy(shape: QueryShape, indexes: Indexes): string | undefined {
  const { collection, operation, file } = shape;
  return (
    servingIndex(shape, indexes.get(collection) ?? []) ?? wholeReads[`${collection} ${operation} ${file}`]
  );
}

const wholeReads: Readonly<Record<string, string>> = {
  'ledger aggregate ledger/verify-context.ts': 'whole: verify reads every account',
  'tasks find ledger/verify-records.ts': 'whole: verify reads every record',
  'channel_health find store/channel-health.ts': 'whole: few circuits',
  'channel_states find store/channel-states.ts': 'whole: few switches',
  'render_times find store/render-times.ts': 'whole: few kinds of output, at most 2,000 are read',
  'key_slots find store/key-slots.ts': 'whole: reconciler, a document for each limited key',
  'operator_sessions deleteMany store/operator-sessions.ts':
    'whole: all sessions end, at most fifty for each operator',
  'upkeep_failures find store/upkeep-failures.ts': 'whole: a document for each loop of the upkeep',
  'slots find store/slots.ts': 'whole: reconciler, a document for each slot',
};

export function queryListText(): string {
  return readFileSync(page, 'utf8');
}
