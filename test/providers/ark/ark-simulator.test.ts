import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { arkVideo } from '../../../src/providers/ark/ark-video.ts';
import type { OperationStatus, ProviderContext, SubmitContext } from '../../../src/providers/provider.ts';
import { providerContext, submitContext, upstreamError, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

const pro1 = 'doubao-seedance-1-0-pro-250528';
const pro15 = 'doubao-seedance-1-5-pro-251215';
const pro2 = 'doubao-seedance-2-0-260128';
const pro25 = 'doubao-seedance-2-5-260628';

const simulator = useSimulator({ renderSeconds: 80 });

const base = () => ({ request: simulator.request, baseUrl: `${simulator.url}/ark/api/v3` });
const context = (over: Partial<ProviderContext> = {}) => providerContext({ ...base(), ...over });

function submit(asked: Partial<VideoRequest>, over: Partial<SubmitContext> = {}) {
  return arkVideo.submit(videoRequest(asked), submitContext({ model: pro2, ...base(), ...over }));
}

async function render(
  asked: Partial<VideoRequest>,
  over: Partial<SubmitContext> = {},
): Promise<OperationStatus> {
  const { operation } = await submit(asked, over);
  simulator.control.advance(100);
  return arkVideo.status(operation, context());
}

describe('a job', () => {
  it('never costs more tokens than were estimated', async () => {
    for (const model of [pro1, pro15, pro2, pro25]) {
      for (const resolution of ['480p', '720p', '1080p']) {
        for (const ratio of ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']) {
          const asked = { resolution, ratio, duration: 5 };
          const status = await render(asked, { model });
          const used = status.state === 'succeeded' ? status.facts.usage?.completionTokens : undefined;
          const output = { resolution, ratio, durationSeconds: 5 };
          expect([model, resolution, ratio, used]).toEqual([
            model,
            resolution,
            ratio,
            Number(arkVideo.estimateTokens?.(videoRequest(asked), output, model)),
          ]);
        }
      }
    }
  });

  it('that the upstream refuses for its input fails with its message', async () => {
    const error = await upstreamError(submit({ resolution: '240p' }));
    const failure = { class: 'invalid_input', field: 'resolution' };
    expect([error.outcome, error.failure]).toEqual(['rejected', failure]);
    expect(error.words).toContain('`resolution`');
  });

  it('that exceeds its time has expired', async () => {
    const { operation } = await submit({ prompt: 'a [sim:never-finishes]' }, { remainingSeconds: 1 });
    simulator.control.advance(4_000);
    expect(await arkVideo.status(operation, context())).toMatchObject({
      state: 'failed',
      code: 'upstream_expired',
    });
  });
});

it.each([
  ['503', 'throttled', 0],
  ['huge-body=3', 'ambiguous', 1],
])('a submit into %s is %s, after %i accepted jobs', async (fault, outcome, accepted) => {
  const error = await upstreamError(submit({ prompt: `a boat [sim:${fault}]` }));
  expect([error.outcome, simulator.control.tasks('a boat').length]).toEqual([outcome, accepted]);
});

it('a submit without a response ends with its time limit and is ambiguous', async () => {
  const signal = AbortSignal.timeout(300);
  for (const fault of ['slow=2', 'timeout=2', 'slow-loris=5']) {
    const error = await upstreamError(submit({ prompt: `a [sim:${fault}]` }, { signal }));
    expect(['ambiguous', 'not_sent']).toContain(error.outcome);
  }
});

it('a cancel accepts an empty response', async () => {
  const { operation } = await submit({ prompt: 'a [sim:delete:no-content]' });
  expect(await arkVideo.cancel?.(operation, context())).toBe('cancelled');
});

describe('list', () => {
  it('leaves finished jobs to a single poll if it lacks their facts', async () => {
    const running = await submit({ prompt: 'slow [sim:list:sdk-shape][sim:render=1000]' });
    const ended = await submit({ prompt: 'quick [sim:list:sdk-shape]' });
    const failed = await submit({ prompt: 'bad [sim:list:sdk-shape][sim:failed]' });
    simulator.control.advance(150);
    const operations = [running, ended, failed].map(({ operation }) => operation);
    const found = await arkVideo.list?.(operations, context());
    expect(found?.get(running.operation.id)).toMatchObject({ state: 'pending' });
    expect(found?.get(failed.operation.id)).toMatchObject({
      state: 'failed',
      code: expect.stringMatching(/.+/),
    });
    expect(found?.has(ended.operation.id)).toBe(false);
    expect(await arkVideo.status(ended.operation, context())).toMatchObject({ state: 'succeeded' });
  });
});
