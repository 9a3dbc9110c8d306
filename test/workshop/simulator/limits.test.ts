import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../../support/callback-receiver.ts';
import { StateFile } from '../../../workshop/simulator/state-file.ts';
import { arkCaller, startHarness, expectCallbacks } from './support.ts';

const harness = await startHarness({ renderSeconds: 8 });
afterAll(() => harness.close());

describe('limits', () => {
  it('apply to the state file, which is rewritten when it has grown', async () => {
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

  it('apply to callbacks in flight: more of them wait, and none is lost', async () => {
    let open = 0;
    let most = 0;
    const receiver = await startCallbackReceiver((response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(200).end();
      }, 50);
    });
    harness.control.reset();
    const ark = arkCaller(harness);
    await Promise.all(Array.from({ length: 100 }, () => ark.created({ callback_url: receiver.url })));
    harness.control.advance(9);
    await receiver.waitFor(200);
    expect(most).toBeLessThanOrEqual(64);
    await expectCallbacks(harness, { attempts: 200, delivered: 200, failed: 0 });
    await receiver.close();
  });
});
