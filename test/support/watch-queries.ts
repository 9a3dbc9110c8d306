import { afterAll } from 'vitest';
import { takeNotedQueries } from './noted-queries.ts';
import { isRecording, readIndexes, readQueryList, servedBy, writeQueryList } from './query-list.ts';

/**
 * Fails a test file if src sent a query that no index serves. Queries that are missing from docs/queries.md are only
 * reported.
 */
afterAll(() => {
  const listed = readQueryList();
  const indexes = readIndexes();
  const unlisted = takeNotedQueries().filter(([row]) => !listed.has(row));
  const rows = unlisted.map(([row]) => row);
  if (isRecording && rows.length > 0) {
    writeQueryList([...listed, ...rows], indexes);
    return;
  }
  const scans = unlisted.filter(([, shape]) => servedBy(shape, indexes) === undefined).map(([row]) => row);
  if (scans.length > 0) throw new Error(`no index serves:\n${scans.join('\n')}`);
  if (rows.length > 0)
    process.stderr.write(`not in docs/queries.md (RECORD_QUERIES=1 adds them):\n${rows.join('\n')}\n`);
});
