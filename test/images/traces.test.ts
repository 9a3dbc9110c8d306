import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { imageYaml, refuse, sendImages, startImageUpstream, type ImageUpstream } from './support.ts';

const callersSpan = '00f067aa0ba902b7';
const traceOf = (n: number): string => `4bf92f3577b34da6a3ce929d0e0e473${n}`;
const traceparent = (n: number): string => `00-${traceOf(n)}-${callersSpan}-01`;

describe('the trace of images that a caller waits for', () => {
  let upstream: ImageUpstream;
  let gateway: TestGateway;
  let otlp: Awaited<ReturnType<typeof startOtlpReceiver>>;
  beforeAll(async () => {
    [upstream, otlp] = await Promise.all([startImageUpstream(), startOtlpReceiver()]);
    const traced = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${otlp.url}/v1/traces` };
    // OpenTelemetry's exporter reads these variables directly from the environment.
    for (const [name, value] of Object.entries(traced)) vi.stubEnv(name, value);
    gateway = await startGateway({
      worker: false,
      yaml: imageYaml({ first: upstream.url }),
      environment: traced,
    });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await otlp.close();
    await upstream.close();
  });

  it('contains each channel that was called, but not a stranger’s trace', async () => {
    const account = await gateway.account();
    const body = { model: 'gpt-image', prompt: 'a red cube nobody may read about' };
    const create = (n: number, key = account.key) =>
      gateway.call('POST', '/v1/images/generations', { key, body, headers: { traceparent: traceparent(n) } });
    upstream.answer = sendImages;
    expect((await create(1)).status).toBe(200);
    upstream.answer = refuse(400, 'bad_prompt', 'The prompt was: a red cube');
    expect((await create(2)).status).toBe(400);
    expect((await create(3, `${account.key}x`)).status).toBe(401);
    await gateway.stop();

    const story = (n: number) => otlp.spans.filter(({ trace }) => trace === traceOf(n));
    const spanOf = (n: number, name: string) => story(n).find((span) => span.name === name);
    const [route, generating] = ['POST /v1/images/generations', 'generate gpt-image-1.5'];
    expect(spanOf(1, route)).toMatchObject({ parent: callersSpan, isError: false });
    expect(spanOf(1, 'image')).toMatchObject({ parent: spanOf(1, route)?.id });
    expect(spanOf(1, generating)).toMatchObject({
      parent: spanOf(1, 'image')?.id,
      isError: false,
      attributes: { 'gen_ai.request.model': 'gpt-image-1.5', 'mediary.channel': 'first' },
    });
    expect(spanOf(2, route)).toMatchObject({
      isError: false,
      attributes: { 'http.response.status_code': 400 },
    });
    expect(spanOf(2, generating)).toMatchObject({
      isError: true,
      attributes: { 'mediary.outcome': 'failed' },
    });
    expect(story(3)).toEqual([]);
    expect(JSON.stringify(otlp.spans)).not.toContain('a red cube');
  });
});
