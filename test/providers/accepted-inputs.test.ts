import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { defined } from '../../src/base/defined.ts';
import { adapters, providers } from '../../src/providers/index.ts';
import { vendorInputs, type VendorInputs } from './accepted-inputs.ts';
import { imageIssue, imageRequest, submitContext, upstreamError, videoIssue } from './support.ts';
import { videoRequest } from './support.ts';
import { useSimulator } from './use-simulator.ts';

/** Whatever the adapter's own check accepts, the simulator's dialect must accept, render and charge for. */

const simulator = useSimulator({ renderSeconds: 8 });

const text = readFileSync(new URL('../../gateway.example.yaml', import.meta.url), 'utf8');
const environment = Object.fromEntries(
  Array.from(text.matchAll(/\$\{(\w+)\}/g), ([, name = '']) => [name, 'x'] as const),
);
const { channels } = parseGatewayConfig(text, 'gateway.example.yaml', { environment, ...adapters });

function contextOf(vendor: string, { path, bucketPath = path }: VendorInputs, name: string) {
  const served = channels.find(({ provider }) => provider === vendor)?.models[name];
  return submitContext({
    request: simulator.request,
    baseUrl: simulator.url + (name.includes('@') ? bucketPath : path),
    model: served?.upstream ?? name,
    ...defined({ mapping: served?.mapping }),
  });
}

const ended = { state: 'succeeded', items: [{ url: expect.stringMatching(/^https?:/) }] };

describe.each(Object.entries(vendorInputs))('%s', (vendor, inputs) => {
  const { video, image, imageTask } = providers[vendor] ?? {};
  if (video === undefined) throw new Error(`${vendor} makes no videos`);

  const videos = inputs.videos.map(([name, asked, expected = {}]) => [name, asked, expected] as const);
  it.each(videos)('%s, video of %j', async (name, asked, expected) => {
    const context = contextOf(vendor, inputs, name);
    const request = videoRequest(asked);
    const issue = videoIssue(video, request, context.model, context.mapping);
    if (expected === 'refused') {
      expect(issue).toBeDefined();
      const { outcome, failure } = await upstreamError(video.submit(request, context));
      expect([outcome, failure.class]).toEqual(['rejected', 'invalid_input']);
      return;
    }
    expect(issue).toBeUndefined();
    const { operation } = await video.submit(request, context);
    simulator.control.advance(9);
    expect(await video.status(operation, context)).toMatchObject({ ...ended, ...(expected as object) });
  });

  it.each(inputs.images ?? [])('%s, image of %j: %i', async (name, asked, count) => {
    const context = contextOf(vendor, inputs, name);
    const request = imageRequest(asked);
    const issue = imageIssue(imageTask ?? image, request, context.model, context.mapping);
    expect(issue === undefined).toBe(count > 0);
    if (imageTask !== undefined) {
      if (count === 0) {
        expect((await upstreamError(imageTask.submit(request, context))).failure.class).toBe('invalid_input');
        return;
      }
      const { operation } = await imageTask.submit(request, context);
      simulator.control.advance(9);
      expect(await imageTask.status(operation, context)).toMatchObject({
        state: 'succeeded',
        facts: { images: count },
      });
      return;
    }
    simulator.control.setRenderSeconds(0);
    const made = await image?.generate(request, context).catch(() => undefined);
    expect(made?.images.length ?? 0).toBe(count);
  });
});
