import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { periods } from '../../src/base/periods.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timer =
  /setInterval\(|createRounds\(|following\(|createSnapshot<|\bsetTimeout\(|\bsleep\(|timers\/promises'/;
const notParts = /^src\/(?:process\/|store\/snapshot\.ts|local\/|cli\/|pages\/|client\/)/;
const waits: Readonly<Record<string, readonly string[]>> = {
  'a limit on the time of one operation': [
    'activities/prepare-submission.ts',
    'src/http/answer-in-turn.ts',
    'src/http/unreadable.ts',
    'src/http/write-reply.ts',
    'src/images/result-form.ts',
    'src/temporal/task-client.ts',
    'src/temporal/wake-activity.ts',
  ],
  'a pause for other work, or before a repetition of a failed operation': [
    'activities/measure.ts',
    'src/api.ts',
    'src/capacity/circuit-wakes.ts',
    'src/config/example-catalogue.ts',
    'src/http/reference/reference.ts',
    'src/images/settle-images.ts',
    'src/ledger/appender.ts',
    'src/ledger/verify-reading.ts',
    'src/observability/otlp-tracer.ts',
    'src/store/gather-reads.ts',
  ],
  'asks an upstream, or waits until it may': [
    'activities/first-callback.ts',
    'activities/poll.ts',
    'src/capacity/rate-limiter.ts',
    'src/capacity/submit-limiter.ts',
    'src/images/call-channel.ts',
    'src/polling/status-poller.ts',
  ],
  'writes to its reader, or waits for src/http/task-watcher.ts': [
    'src/http/task-changes.ts',
    'src/http/working-reply.ts',
  ],
  'passes the clock to other parts': ['src/compose/upkeep.ts', 'src/compose/worker-deps.ts'],
};

const [, section = ''] = readFileSync(join(root, 'docs/operating.md'), 'utf8').split(
  '## What runs on a timer\n',
);
const [table = ''] = section.split('\n## ');
const rows = [...table.matchAll(/^\| [^|]*\]\(\.\.\/([^)]+)\) \| [^|]+ \| ([^|]+) \|/gm)].map(
  ([, file = '', every = '']) => ({ file, every }),
);

it('the table in docs/operating.md lists all timers', () => {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const timed = files.filter(
    (file) => !notParts.test(file) && timer.test(readFileSync(join(root, file), 'utf8')),
  );
  const explained = [...rows.map(({ file }) => file), ...Object.values(waits).flat()];
  expect(explained.toSorted()).toEqual(timed.toSorted());
});

const named: Readonly<Record<string, { readonly everyMs: number; readonly idleMs?: number }>> = periods;

it.each(Object.entries(named))('contains the period of %s', (name, { everyMs, idleMs }) => {
  const asking = rows.filter(({ file }) =>
    new RegExp(`\\bperiods\\.${name}\\b`).test(readFileSync(join(root, file), 'utf8')),
  );
  const every = everyMs < 1000 ? `${everyMs} ms` : `${everyMs / 1000} s`;
  const idle = idleMs === undefined ? '' : `; idle ${idleMs / 1000} s`;
  expect(asking.map((row) => row.every.split(', ')[0])).toEqual([`${every}${idle}`]);
});

it('contains every interval at which a server queries MongoDB', () => {
  const asks = [
    'src/access/',
    'src/capacity/',
    'src/control/',
    'src/ledger/',
    'src/images/',
    'src/notices/',
    'src/routing/',
  ];
  const others = rows.filter(
    ({ file }) =>
      asks.some((folder) => file.startsWith(folder)) &&
      !readFileSync(join(root, file), 'utf8').includes('periods.'),
  );
  expect(others).toEqual([]);
});
