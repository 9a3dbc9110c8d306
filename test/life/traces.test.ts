import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { startGatewayProcess, waitUntil, type GatewayProcess } from '../support/processes.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const callersSpan = '00f067aa0ba902b7';

describe('the trace of a task', () => {
  let gateway: TestGateway;
  let worker: GatewayProcess;
  let directory: string;
  let otlp: Awaited<ReturnType<typeof startOtlpReceiver>>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-traces-'));
    otlp = await startOtlpReceiver();
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_SERVICE_NAME: 'shop-video' };
    // OpenTelemetry's exporter reads these variables directly from the environment.
    Object.assign(process.env, traced);
    gateway = await startGateway({ worker: false, environment: traced });
    worker = startGatewayProcess('worker', gateway.environment, join(directory, 'worker.log'));
    await worker.logged('"started"');
  });
  afterAll(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    delete process.env['OTEL_SERVICE_NAME'];
    await worker.kill();
    await gateway.stop();
    await otlp.close();
    await rm(directory, { recursive: true, force: true });
  });

  const named = (name: string): ReceivedSpan[] =>
    otlp.spans.filter((span) => span.trace === trace && span.name === name);
  const spanOf = (name: string): ReceivedSpan => {
    const [span] = named(name);
    if (span === undefined) throw new Error(`no span ${name} in ${JSON.stringify(otlp.spans)}`);
    return span;
  };

  it('is the caller’s, from its request to its callback, over all processes', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    const prompt = 'a paper boat nobody may read about';
    const created = await account.create(
      { prompt, metadata: { callback_url: receiver.url } },
      { traceparent: `00-${trace}-${callersSpan}-01` },
    );
    await account.finished(created.body.id);
    await receiver.waitFor(1);
    await worker.stop();
    // The span of the POST ends last, but its children may arrive in other batches.
    const sentByApi = ['POST /v1/videos/generations', 'admission', 'ledger.hold', 'workflow.start'];
    await waitUntil('the API has sent its spans', async () =>
      sentByApi.every((name) => named(name).length === 1),
    );

    const request = spanOf('POST /v1/videos/generations');
    expect(request).toMatchObject({
      parent: callersSpan,
      resource: { 'service.name': 'shop-video' },
      attributes: { 'http.response.status_code': 200, 'mediary.operation': 'createVideo' },
    });
    const admission = spanOf('admission');
    expect(admission).toMatchObject({ parent: request.id, attributes: { 'mediary.task': created.body.id } });
    for (const name of ['ledger.hold', 'workflow.start']) expect(spanOf(name).parent).toBe(admission.id);

    const submission = spanOf('submit');
    for (const name of ['lookAtTask', 'submit', 'finishTask', 'firstCallback'])
      expect([name, spanOf(name).parent]).toEqual([name, request.id]);
    expect(submission.resource['service.instance.id']).not.toBe(request.resource['service.instance.id']);
    const [sent] = otlp.spans.filter(
      ({ attributes }) => attributes['gen_ai.operation.name'] === 'generate_content',
    );
    expect(sent).toMatchObject({
      trace,
      parent: submission.id,
      attributes: {
        'gen_ai.provider.name': expect.stringMatching(/\w/),
        'gen_ai.request.model': expect.stringMatching(/\w/),
        'gen_ai.response.id': expect.stringMatching(/\w/),
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
      },
    });
    const polls = otlp.spans.filter(({ attributes }) => attributes['mediary.outcome'] === 'succeeded');
    expect(polls.map((poll) => poll.trace)).toEqual([trace]);

    const sender = receiver.received[0]?.headers['traceparent'];
    const callback = named('callback').find(({ id }) => sender === `00-${trace}-${id}-01`);
    expect(callback?.attributes).toMatchObject({ 'http.response.status_code': 204 });
    // On a busy machine, the `deliverCallback` activity sends the callback instead of `firstCallback`, so either may be
    // its parent.
    const delivering = otlp.spans.find(({ id }) => id === callback?.parent);
    expect(['firstCallback', 'deliverCallback']).toContain(delivering?.name);
    await receiver.close();

    for (const secret of [prompt, account.key, 'secret=abc', '"simulated"'])
      expect(JSON.stringify(otlp.spans)).not.toContain(secret);
    const upstream = otlp.spans.filter(({ attributes }) => 'mediary.channel' in attributes);
    const generative = otlp.spans.filter(({ attributes }) =>
      Object.keys(attributes).some((name) => name.startsWith('gen_ai')),
    );
    expect(generative).toEqual(upstream);
  });
});
