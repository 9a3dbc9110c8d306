import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseReplayFile, replayFile, silenceTemporal } from '../../workshop/replay/replay-file.ts';
import { replayRecord } from '../../workshop/replay/replay-record.ts';
import type { FlightRecord } from '../../src/flight/flight-record.ts';
import { providers } from '../../src/providers/index.ts';

/**
 * Records of real tasks, written by `tasks export` (test/replay/record-tasks.ts): what today's adapters, settlement,
 * decisions and workflow make of them is what they were. A failure of production is kept from coming back by exporting
 * its task into this folder.
 */
silenceTemporal();
const folder = fileURLToPath(new URL('records', import.meta.url));
const files = readdirSync(folder);

function read(name: string): FlightRecord {
  const parsed = parseReplayFile(readFileSync(`${folder}/${name}`, 'utf8'));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.record;
}

describe('records of real tasks', () => {
  it('are there', () => {
    const kinds = ['adopted', 'lost-and-found', 'moderated', 'poll-outage', 'replaced', 'succeeded'];
    expect(files).toEqual(expect.arrayContaining(kinds.map((name) => `${name}.json`)));
  });

  it.each(files)('%s is the same today', async (file) => {
    const { lines, same } = await replayFile({ ok: true, record: read(file) });
    expect(lines).toEqual([expect.stringMatching(/^The same as recorded: [1-9]\d* calls/)]);
    expect(same).toBe(true);
  });

  it.each(files)('%s holds nothing that a caller wrote', (file) => {
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    expect(text).not.toMatch(
      /paper boat|balcony|lost and found office|lighthouse|alps|paper kite|simulated|\[sim:/,
    );
    expect(text).not.toMatch(/Bearer |sk-[A-Za-z0-9]{8}|\?[A-Za-z-]+=/);
  });
});

/** A record that was changed in one place. */
function changed(name: string, change: (record: any) => void): FlightRecord {
  const copy: unknown = structuredClone(read(name));
  change(copy);
  return copy as FlightRecord;
}

const differencesOf = async (record: FlightRecord) => (await replayRecord(record, providers)).differences;

describe('a difference is reported in a sentence', () => {
  it('an answer that the adapter reads otherwise, and the charge that follows', async () => {
    const record = changed('succeeded.json', ({ calls }) => {
      const { exchanges } = calls.at(-1);
      exchanges[0].body = exchanges[0].body.replaceAll('108900', '217800');
    });
    expect(await differencesOf(record)).toEqual([
      expect.stringMatching(
        /^status at ark, \d\.\d s: The outcome differs: facts\.usage\.completionTokens was 108900 and is 217800; /,
      ),
      'The charge was 0.762300 and is 1.524600 today.',
    ]);
  });

  it('a price', async () => {
    const record = changed('succeeded.json', ({ ledger }) => {
      ledger[0].basis = ledger[0].basis.replace('"7.00"', '"8.00"');
    });
    expect(await differencesOf(record)).toEqual(['The charge was 0.762300 and is 0.871200 today.']);
  });

  it('another outcome, and its class', async () => {
    const record = changed('moderated.json', ({ calls }) => {
      calls[0].exchanges[0].status = 429;
      calls[0].exchanges[0].body = '{"error":{"code":"RateLimitExceeded","message":"slow down"}}';
    });
    expect(await differencesOf(record)).toEqual([
      expect.stringMatching(
        /The outcome differs: outcome was "rejected" and is "throttled"; .*class was "moderation_input" and is "capacity"\.$/,
      ),
    ]);
  });

  it('a request of another shape', async () => {
    const record = changed('succeeded.json', (it) => {
      it.request = it.request.replace('"duration":5', '"duration":6');
    });
    expect(await differencesOf(record)).toEqual([
      expect.stringMatching(/The body of POST .* differs: duration was 5 and is 6\.$/),
    ]);
  });

  it('a request that was not recorded, and one that is no longer sent', async () => {
    const record = changed('succeeded.json', ({ calls }) => {
      calls[0].exchanges = [];
      calls[1].exchanges.push({ ...calls[1].exchanges[0], method: 'POST' });
    });
    const [first, second, ...others] = await differencesOf(record);
    expect(first).toMatch(/^submit at ark.*The adapter sends POST .*, which was not recorded\.$/);
    expect(second).toMatch(/^submit at ark.*Recorded is “accepted, .*”, today it is “not_sent, not_recorded/);
    expect(others).toEqual([expect.stringMatching(/^status at ark.*no longer sends POST http/)]);
  });

  it('a fallback that would be decided otherwise', async () => {
    const record = changed('replaced.json', ({ plan }) => void (plan.fallback.on = ['capacity']));
    expect(await differencesOf(record)).toEqual([
      'After attempt 1 the task continued at second; today it would end.',
    ]);
  });

  it('a provider that is gone', async () => {
    const record = changed('moderated.json', ({ calls }) => void (calls[0].provider = 'toString'));
    expect(await differencesOf(record)).toEqual([
      expect.stringMatching(/there is no provider toString for videos\.$/),
    ]);
  });

  it('a workflow that no longer replays the history', async () => {
    const record = changed('succeeded.json', (it) => {
      it.history = JSON.parse(JSON.stringify(it.history).replaceAll('"submit"', '"somethingElse"'));
    });
    const { lines, same } = await replayFile({ ok: true, record });
    expect(same).toBe(false);
    expect(lines.join('\n')).toMatch(/The workflow of today cannot replay the task’s history/);
  });
});

describe('what cannot be replayed is said', () => {
  it('of a task without its request, its history and its exchanges', async () => {
    const record = changed('succeeded.json', (it) => {
      it.request = null;
      it.plan = null;
      delete it.history;
      it.calls[1].exchanges[0].body = undefined;
    });
    const { lines, same } = await replayFile({ ok: true, record });
    expect(same).toBe(true);
    expect(lines).toEqual([
      expect.stringMatching(/^Note: submit at ark.*not replayed, the request is not in the record\.$/),
      expect.stringMatching(/^Note: status at ark.*not replayed, an answer was too large to be kept\.$/),
      'Note: The workflow is not replayed: its history is not in the record.',
      expect.stringMatching(/^The same as recorded/),
    ]);
    const empty = changed('succeeded.json', (it) => void (it.calls = []));
    expect((await replayRecord(empty, providers)).notes).toEqual([
      'No exchange with an upstream is in the record.',
    ]);
  });
});

describe('a file from a stranger', () => {
  it.each([
    ['is not JSON', 'hello', 'The file is not JSON.'],
    ['is another JSON', '[]', /not a mediary-task-record of version 1 \(the whole: /],
    ['is of another version', JSON.stringify({ ...read('succeeded.json'), version: 2 }), /\(version: /],
    ['lacks a part', JSON.stringify({ ...read('succeeded.json'), calls: [{}] }), /\(calls\.0\.step: /],
  ])('that %s is refused with a sentence', async (_, text, problem) => {
    const { lines, same } = await replayFile(parseReplayFile(text));
    expect([lines.length, same]).toEqual([1, false]);
    expect(lines[0]).toMatch(problem);
  });

  it.each([
    [
      'a price basis',
      (it: any) =>
        void (it.ledger[0].basis =
          '{"price":{"unit":"second","minimum":"0","rules":[{"price":"1","when":{"resolution":5}}]},"facts":{},"version":"1"}'),
    ],
    [
      'a request',
      (it: any) =>
        void (it.request = '{"kind":"video","model":"m","prompt":"p","images":[null],"extra":null}'),
    ],
    ['an answer', (it: any) => void (it.calls[1].exchanges[0].body = '[[[[')],
    ['a history', (it: any) => void (it.history = { events: [{ eventType: 'nonsense' }] })],
    ['a mapping', (it: any) => void (it.mappings = { ark: '[]' })],
    ['names of prototypes', (it: any) => void (it.calls[0].operation = JSON.parse('{"__proto__":"x"}'))],
  ])('with %s that makes no sense ends in sentences', async (_, change) => {
    const { lines } = await replayFile({ ok: true, record: changed('succeeded.json', change) });
    expect(lines.length).toBeGreaterThan(0);
  });
});
