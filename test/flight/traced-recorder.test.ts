import { expect, it } from 'vitest';
import type { RawCall } from '../../src/flight/describe-call.ts';
import { tracedRecorder } from '../../src/flight/traced-recorder.ts';
import type { ExchangeRecorder } from '../../src/flight/exchange-recorder.ts';
import type { EndedCall } from '../../src/observability/task-spans.ts';

const call: RawCall = {
  step: 'status',
  at: 1_000,
  ms: 20,
  channel: 'first',
  credential: 'a',
  provider: 'vendor',
  model: 'm-1',
  baseUrl: 'https://upstream.example/v1?key=secret',
  operation: { id: 'job-1' },
  exchanges: [
    {
      asked: {
        method: 'GET',
        url: 'https://upstream.example/v1/jobs/1?signature=secret',
        headers: { authorization: 'Bearer secret' },
        signal: AbortSignal.timeout(1_000),
      },
      at: 1_000,
      ms: 19,
      response: { status: 503, headers: {}, text: 'the prompt was: secret', json: undefined },
    },
  ],
  outcome: { kind: 'error', outcome: 'unavailable', code: 'overloaded', class: 'capacity', gone: false },
  hidden: { secrets: ['secret'], texts: ['secret'] },
};

function record(recorded: RawCall): {
  readonly noted: readonly EndedCall[];
  readonly kept: readonly RawCall[];
} {
  const noted: EndedCall[] = [];
  const kept: RawCall[] = [];
  const recorder: ExchangeRecorder = {
    record: (_, made) => void kept.push(made),
    own: () => () => undefined,
    ownerOf: () => undefined,
    close: () => Promise.resolve(),
  };
  tracedRecorder(recorder, { note: (_, span) => void noted.push(span) }).record('task_1', recorded);
  return { noted, kept };
}

it('a call is a span with its outcome, without any data that was sent or received', () => {
  const { noted, kept } = record(call);
  expect(kept).toEqual([call]);
  expect(noted).toEqual([
    {
      name: 'status m-1',
      kind: 'client',
      startedAt: 1_000,
      endedAt: 1_020,
      failed: 'overloaded',
      attributes: {
        'gen_ai.operation.name': 'status',
        'gen_ai.provider.name': 'vendor',
        'gen_ai.request.model': 'm-1',
        'gen_ai.response.id': 'job-1',
        'http.request.method': 'GET',
        'http.response.status_code': 503,
        'server.address': 'upstream.example',
        'mediary.task': 'task_1',
        'mediary.channel': 'first',
        'mediary.credential': 'a',
        'mediary.outcome': 'error',
      },
    },
  ]);
  expect(JSON.stringify(noted)).not.toContain('secret');
});

it.each([
  [{ kind: 'failed', code: 'blocked', class: 'moderation_output', unbilled: true }, 'blocked'],
  [{ kind: 'crashed', message: 'secret' }, 'adapter_failed'],
  [{ kind: 'pending', phase: 'running' }, undefined],
])('%o has failed with %s', (outcome, failed) => {
  expect(record({ ...call, outcome: outcome as RawCall['outcome'] }).noted).toMatchObject([{ failed }]);
});

it('a list of jobs of several models has no model name', () => {
  expect(record({ ...call, step: 'list', model: '' }).noted[0]?.name).toBe('list');
});
