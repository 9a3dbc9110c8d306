import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FaultBook } from '../../../workshop/simulator/fault-book.ts';
import { StateFile } from '../../../workshop/simulator/state-file.ts';
import { Statistics } from '../../../workshop/simulator/statistics.ts';
import { arkCaller, startHarness, startReceiver, tasksPath, testKey, expectCallbacks } from './support.ts';

const harness = await startHarness({ renderSeconds: 8 });
afterAll(() => harness.close());

const exchange = {
  stage: 'create',
  dialect: 'ark',
  method: 'POST',
  path: '/',
  header: undefined,
  model: 'm',
} as const;

describe('limits', () => {
  it('hold for request bodies', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = httpRequest(
        harness.url + tasksPath,
        { method: 'POST', headers: { authorization: `Bearer ${testKey}` } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      outgoing.on('error', reject);
      const chunk = Buffer.alloc(8 * 1024 * 1024);
      for (let index = 0; index < 13; index += 1) outgoing.write(chunk);
      outgoing.end();
    });
    expect(status).toBe(413);
  });

  it('hold for fault rules', () => {
    const book = new FaultBook();
    for (let index = 0; index < 1000; index += 1) book.add({ match: {}, fault: '500' });
    expect(() => {
      book.add({ match: {}, fault: '500' });
    }).toThrow('At most 1000 fault rules.');
  });

  it('hold for counted faults: the oldest count is forgotten', () => {
    const book = new FaultBook();
    const strikes = (prompt: string): number =>
      book.onCreate({ ...exchange, prompt }, ['[sim:500*1]']).now.all.length;
    expect([strikes('first'), strikes('first')]).toEqual([1, 0]);
    for (let index = 0; index < 20_000; index += 1) strikes(`other ${index}`);
    expect(strikes('first')).toBe(1);
  });

  it('hold for prompts that are counted', () => {
    const statistics = new Statistics();
    for (let index = 0; index < 50_001; index += 1) statistics.countPrompt('submits', `prompt ${index}.`);
    expect(statistics.ofPrompt('prompt 0.')).toEqual({ submits: 0, creates: 0 });
    expect(statistics.ofPrompt('prompt 50000.')).toEqual({ submits: 1, creates: 0 });
    expect(statistics.counts().submits).toBe(50_001);
  });

  it('hold for the state file: it is rewritten when it has grown', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'simulator-limits-'));
    const path = join(directory, 'state.jsonl');
    const file = new StateFile(path);
    file.keep(() => [{ dialect: 'ark', id: 'kept', gone: true }]);
    const line = { dialect: 'ark', task: { id: 'x', prompt: 'p'.repeat(1024 * 1024) } };
    for (let index = 0; index < 65; index += 1) file.append(line);
    expect((await stat(path)).size).toBeLessThan(3 * 1024 * 1024);
    expect(file.read('ark')[0]).toEqual({ dialect: 'ark', id: 'kept', gone: true });
    file.close();
    await rm(directory, { recursive: true });
  });

  it('hold for callbacks in flight: more wait, none is lost', async () => {
    let open = 0;
    let most = 0;
    const receiver = await startReceiver((response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(200).end();
      }, 50);
    });
    harness.control.reset();
    const ark = arkCaller(harness);
    await Promise.all(Array.from({ length: 300 }, () => ark.created({ callback_url: receiver.url })));
    harness.control.advance(9);
    await receiver.waitFor(600);
    expect(most).toBeLessThanOrEqual(64);
    await expectCallbacks(harness, { attempts: 600, delivered: 600, failed: 0 });
    await receiver.close();
  });
});
