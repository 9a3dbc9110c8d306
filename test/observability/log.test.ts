import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import { createLogger, scrubForLog, type Logger } from '../../src/observability/log.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

describe('the log', () => {
  function logged(write: (log: Logger) => void, format: 'json' | 'pretty' = 'json'): string {
    const lines: string[] = [];
    write(createLogger({ level: 'debug', format, destination: { write: (line) => void lines.push(line) } }));
    return lines.join('');
  }

  it('writes only listed facts, and counts the rest', () => {
    const line = logged((log) =>
      log.info(
        {
          task: 'task_1',
          prompt: 'a secret',
          headers: { authorization: 'x' },
          duration_ms: 5,
          hold: 5n,
          attempts: 2,
        } as never,
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

  it('an object in a listed field is omitted', () => {
    expect(logged((log) => log.info({ task: { prompt: 'a secret' } } as never, 'x'))).not.toContain('secret');
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
  });

  it('the words of an upstream are in no line, whatever error they cause', () => {
    const upstream = new UpstreamError('rejected', 'a heron over the fjord', { code: 'E1', status: 400 });
    const answered = new GatewayError('provider_error', 'It failed.', { words: 'a heron', cause: upstream });
    const line = logged((log) => log.error({ err: answered, detail: upstream }, 'oh'));
    expect(JSON.parse(line)).toMatchObject({
      err: { message: 'It failed.', cause: { message: 'rejected: E1', code: 'E1' } },
      detail: { message: 'rejected: E1' },
    });
    expect(line).not.toContain('heron');
  });

  it.each(['json', 'pretty'] as const)('shows no control characters, as %s', (format) => {
    const hostile = '\u001B[2J\u202E\u009Bx';
    const err = Object.assign(new Error(hostile), { name: hostile, code: hostile, detail: hostile });
    const line = logged((log) => log.error({ task: hostile, url: [hostile], err }, hostile), format);
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(line).toContain('u202e');
  });

  it('messages are scrubbed', () => {
    expect(JSON.parse(logged((log) => log.warn({}, 'sk-abcdefghijklmnop')))).toMatchObject({ msg: '[key]' });
  });

  it('an unlisted name does not compile, not even in a spread object', () => {
    const circuit = { state: 'open', cooled: 5 } as const;
    const lines = logged((log) => {
      // @ts-expect-error -- not a listed fact
      log.info({ prompt: 'a secret' }, 'x');
      // @ts-expect-error -- `cooled` is not a listed fact
      log.info({ credential: 'a', ...circuit }, 'x');
      // @ts-expect-error -- objects cannot be logged
      log.info({ task: { prompt: 'a secret' } }, 'x');
    });
    expect(lines.match(/"dropped":1/g)).toHaveLength(3);
  });

  it('writes nothing below its level', () => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'warn',
      format: 'json',
      destination: { write: (line) => void lines.push(line) },
    });
    log.info({}, 'quiet');
    log.warn({}, 'heard');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['heard']);
  });

  it('`pretty` writes one readable line', () => {
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
      expect(cpuMsOf(() => scrubForLog(text))).toBeLessThan(5_000);
    }
  });
});
