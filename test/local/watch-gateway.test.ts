import { describe, expect, it } from 'vitest';
import { watchGateway } from '../../src/local/watch-gateway.ts';
import { waitUntil } from '../support/processes.ts';

describe('watching the gateway', () => {
  it('reports once that it stopped responding, and once that it is ready again', async () => {
    const outcomes = [true, false, true, false, false, false, true, true];
    const said: string[] = [];
    let asked = 0;
    const watch = watchGateway({
      everyMs: 5,
      report: (line) => said.push(line),
      probe: async () => {
        asked += 1;
        if (outcomes[asked - 1] === false) throw new Error('Not ready: mongodb.');
      },
    });
    await waitUntil('every outcome', () => Promise.resolve(asked >= outcomes.length));
    await watch.stop();
    expect(said).toEqual([
      'The gateway stopped responding: Not ready: mongodb.',
      'The gateway is ready again.',
    ]);
  });
});
