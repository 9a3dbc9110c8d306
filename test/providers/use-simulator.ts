import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createUpstreamClient, type UpstreamClient } from '../../src/http-client/upstream-client.ts';
import { startSimulator, type Simulator } from '../../workshop/simulator/simulator.ts';

interface SimulatorInUse extends Pick<Simulator, 'url' | 'control'> {
  readonly request: UpstreamClient;
}

/**
 * Resets the simulator before each test, so that it has no tasks, faults or counts. Only `control.advance` moves its
 * clock.
 */
export function useSimulator(options: {
  readonly renderSeconds: number;
  readonly apiKeys?: readonly string[];
}): SimulatorInUse {
  let now = Date.now();
  let started: { readonly simulator: Simulator; readonly request: UpstreamClient } | undefined;

  function running() {
    if (started === undefined) throw new Error('The simulator starts with the first test.');
    return started;
  }

  beforeAll(async () => {
    started = {
      simulator: await startSimulator({
        host: '127.0.0.1',
        port: 0,
        apiKeys: ['test-key'],
        clock: () => now,
        ...options,
      }),
      request: createUpstreamClient({ networks: ['127.0.0.0/8'] }),
    };
  });
  afterAll(async () => {
    await started?.request.close();
    await started?.simulator.close();
  });
  beforeEach(() => {
    const { control } = running().simulator;
    now = Date.now();
    control.reset();
    control.setRenderSeconds(options.renderSeconds);
  });

  return {
    get url() {
      return running().simulator.url;
    },
    get control() {
      return running().simulator.control;
    },
    get request() {
      return running().request;
    },
  };
}
