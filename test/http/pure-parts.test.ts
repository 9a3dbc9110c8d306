import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noMediaUrl } from '../../src/domain/stored-media.ts';
import { presentTask } from '../../src/http/presenters/video-task.ts';
import { parseSize } from '../../src/http/output-size.ts';
import { createTaskWatcher } from '../../src/http/task-watcher.ts';
import { createLogger, scrubForLog } from '../../src/observability/log.ts';
import { createSecrets, SealError } from '../../src/access/secrets.ts';
import type { TaskDocument } from '../../src/store/tasks.ts';

describe('size', () => {
  it.each([
    ['1280x720', '720p', '16:9'],
    ['854x480', '480p', '16:9'],
    ['1920x1080', '1080p', '16:9'],
    ['1080x1920', '1080p', '9:16'],
    ['720x1280', '720p', '9:16'],
    ['1024x1024', '1080p', '1:1'],
    ['640x640', '720p', '1:1'],
    ['1112x834', '720p', '4:3'],
    ['834x1112', '720p', '3:4'],
    ['2560x1080', '1080p', '21:9'],
    ['3840x2160', '2160p', '16:9'],
  ])('%s is %s at %s', (size, resolution, ratio) => {
    expect(parseSize(size)).toEqual({ resolution, ratio });
  });

  it('turning a picture turns its ratio', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 9_999 }), fc.integer({ min: 100, max: 9_999 }), (a, b) => {
        const [wide, tall] = [parseSize(`${a}x${b}`), parseSize(`${b}x${a}`)];
        expect(wide?.resolution).toBe(tall?.resolution);
      }),
    );
  });
});

describe('presentTask', () => {
  const task: TaskDocument = {
    _id: 'task_1',
    account: 'a',
    key: 'k',
    kind: 'image',
    model: 'm',
    status: 'succeeded',
    version: 1n,
    sort: 's',
    created_at: 1_999,
    updated_at: 2_000,
    completed_at: 2_001,
    deadline_at: 3_000,
    trace_id: '',
    hold: 1n,
  };

  it('an image task', () => {
    const outcome = {
      kind: 'succeeded',
      items: [{ base64: 'AA==' }, { url: 'https://x' }],
      facts: {},
    } as const;
    expect(presentTask({ ...task, outcome }, noMediaUrl)).toEqual({
      id: 'task_1',
      task_id: 'task_1',
      object: 'image.generation.task',
      status: 'succeeded',
      message: 'The task succeeded.',
      trace_id: '',
      model: 'm',
      created_at: 1,
      updated_at: 2,
      completed_at: 2,
      data: [{ b64_json: 'AA==' }, { url: 'https://x' }],
      usage: {},
    });
  });

  it('one count of tokens stands for both', () => {
    const outcome = { kind: 'succeeded', items: [], facts: { usage: { totalTokens: 7 } } } as const;
    expect(presentTask({ ...task, kind: 'video', outcome }, noMediaUrl).usage).toEqual({
      completion_tokens: 7,
      total_tokens: 7,
    });
  });

  it('a failure always has an error', () => {
    expect(presentTask({ ...task, status: 'failed' }, noMediaUrl).error).toEqual({
      code: 'internal_error',
      message: 'The task failed.',
    });
  });
});

describe('the watcher', () => {
  const wait = {
    task: 't',
    status: 'pending',
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  } as const;
  const deps = { findMany: () => Promise.resolve([]), now: Date.now, onError: () => {}, intervalMs: 5 };

  it('answers at once beyond its limit, and after release', async () => {
    const watcher = createTaskWatcher({ ...deps, waitersMax: 1 });
    const first = watcher.waitForChange(wait);
    expect(await watcher.waitForChange(wait)).toBeUndefined();
    watcher.release();
    expect(await first).toBeUndefined();
    expect(await watcher.waitForChange(wait)).toBeUndefined();
    expect(watcher.waiting()).toBe(0);
  });

  it('forgets a caller who hung up', async () => {
    const hangUp = new AbortController();
    const watcher = createTaskWatcher(deps);
    const waiting = watcher.waitForChange({ ...wait, signal: hangUp.signal });
    hangUp.abort();
    expect(await waiting).toBeUndefined();
    expect(watcher.waiting()).toBe(0);
  });

  it('goes on after an error', async () => {
    let calls = 0;
    const errors: unknown[] = [];
    const watcher = createTaskWatcher({
      ...deps,
      onError: (error) => errors.push(error),
      findMany: () =>
        (calls += 1) === 1
          ? Promise.reject(new Error('away'))
          : Promise.resolve([{ ...({} as TaskDocument), _id: 't', status: 'running' }]),
    });
    expect(await watcher.waitForChange(wait)).toMatchObject({ status: 'running' });
    expect(errors).toHaveLength(1);
  });
});

describe('secrets', () => {
  const secrets = createSecrets(randomBytes(32));

  it('what is sealed is opened, by the same key for the same purpose only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sealed = secrets.seal('webhook-secret', text);
        expect(secrets.open('webhook-secret', sealed)).toBe(Buffer.from(text).toString());
        expect(() => secrets.open('payload-codec', sealed)).toThrow(SealError);
        expect(() => createSecrets(randomBytes(32)).open('webhook-secret', sealed)).toThrow(SealError);
      }),
      { numRuns: 30 },
    );
  });

  it('damage is noticed', () => {
    const sealed = secrets.seal('webhook-secret', 'whsec_x');
    for (const damaged of [
      '',
      'v1.',
      'v2.x',
      sealed.slice(0, -2),
      `${sealed.slice(0, 8)}A${sealed.slice(9)}B`,
      sealed.slice(3),
    ]) {
      expect(() => secrets.open('webhook-secret', damaged)).toThrow(SealError);
    }
  });

  it('the same text never looks the same, keys of two purposes differ, and the master has 32 bytes', () => {
    expect(secrets.seal('webhook-secret', 'x')).not.toBe(secrets.seal('webhook-secret', 'x'));
    expect(secrets.deriveKey('api-key-hmac')).not.toEqual(secrets.deriveKey('payload-codec'));
    expect(secrets.deriveKey('api-key-hmac')).toEqual(secrets.deriveKey('api-key-hmac'));
    expect(() => createSecrets(randomBytes(16))).toThrow(RangeError);
  });
});

describe('the log', () => {
  function logged(
    write: (log: ReturnType<typeof createLogger>) => void,
    format: 'json' | 'pretty' = 'json',
  ): string {
    const lines: string[] = [];
    write(createLogger({ level: 'debug', format, destination: { write: (line) => void lines.push(line) } }));
    return lines.join('');
  }

  it('lets through only what is listed, and counts the rest', () => {
    const line = logged((log) =>
      log.info(
        {
          task: 'task_1',
          prompt: 'a secret',
          headers: { authorization: 'x' },
          duration_ms: 5,
          hold: 5n,
          attempts: 2,
        },
        'done',
      ),
    );
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      time: expect.any(String),
      task: 'task_1',
      duration_ms: 5,
      attempts: 2,
      dropped: 3,
      msg: 'done',
    });
  });

  it('an object in a listed field is left out', () => {
    expect(logged((log) => log.info({ task: { prompt: 'a secret' } }, 'x'))).not.toContain('secret');
  });

  it('errors show type, message, code, detail, stack and causes, scrubbed', () => {
    const cause = Object.assign(new Error('Bearer abcdefghijkl'), { code: 'ECONNRESET' });
    const line = logged((log) =>
      log.error({ err: new TypeError('sk-abcdefghijklmnop is bad', { cause }) }, 'oh'),
    );
    const { err } = JSON.parse(line);
    expect(err).toMatchObject({
      type: 'TypeError',
      message: '[key] is bad',
      stack: expect.any(String),
      cause: { message: 'Bearer [key]', code: 'ECONNRESET' },
    });
    expect(line).not.toMatch(/abcdefgh/);
    expect(JSON.parse(logged((log) => log.error(cause))).err.message).toBe('Bearer [key]');
  });

  it('messages are scrubbed, and there are no children that could bring fields along', () => {
    expect(JSON.parse(logged((log) => log.warn('sk-abcdefghijklmnop')))).toMatchObject({ msg: '[key]' });
    expect(() => logged((log) => log.child({ prompt: 'a secret' }))).toThrow(TypeError);
  });

  it('pretty is one line for people', () => {
    const line = logged((log) => log.warn({ task: 'task_1', reason: 'two words' }, 'look'), 'pretty');
    expect(line).toMatch(/^\d\d:\d\d:\d\d WARN {2}look task=task_1 reason="two words"\n$/);
  });

  it.each([
    ['https://cdn.example/v.mp4?X-Signature=abc&b=1', 'https://cdn.example/v.mp4?[query]'],
    ['mongodb://user:pass@db.example/mediary', 'mongodb://[key]@db.example/mediary'],
    ['{"api_key": "abcdef"}', '{"api_key": "[key]"}'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '[key]'],
    ['data:image/png;base64,iVBORw0KGgo=', '[data]'],
    ['POST /callbacks/upstream/task_1/s3cr3t', 'POST /callbacks/upstream/task_1/[token]'],
    [`body ${'aB3'.repeat(30)}`, 'body [data]'],
    ['task_0123456789abcdefghijklmn failed in 5 ms', 'task_0123456789abcdefghijklmn failed in 5 ms'],
  ])('%s', (text, expected) => {
    expect(scrubForLog(text)).toBe(expected);
  });

  it('is quick on hostile text', () => {
    for (const text of [
      'a.'.repeat(50_000),
      'a://'.repeat(50_000),
      'key='.repeat(50_000),
      'A1'.repeat(50_000),
    ]) {
      const startedAt = performance.now();
      scrubForLog(text);
      expect(performance.now() - startedAt).toBeLessThan(200);
    }
  });
});
