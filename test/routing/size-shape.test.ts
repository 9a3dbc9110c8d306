import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { readRepositoryFile, variablesOf } from '../deploy/compose-file.ts';
import { asAsked, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

const text = readRepositoryFile('gateway.example.yaml');
const config = parseGatewayConfig(text, 'gateway.example.yaml', {
  environment: Object.fromEntries(variablesOf(text).map(({ name }) => [name, 'x'])),
  providerNames: Object.keys(providers),
});
const catalogue = createCatalogue({ current: () => config, providers, random: () => 0 });
const models = config.models.flatMap(({ id, kind }) => (kind === 'video' ? [id] : []));

type Over = Partial<VideoRequest>;

function plan(model: string, over: Over) {
  const { request, ...planned } = catalogue.plan(asAsked(videoRequest({ model, ...over })), testBuyer);
  if (request.kind === 'image') throw new Error('not a video');
  return { ...planned, request };
}

function refusal(model: string, over: Over): GatewayError | undefined {
  try {
    plan(model, over);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const image = 'https://a.example/1.png';
const starts: readonly Over[] = [
  {},
  { firstFrame: image },
  { firstFrame: image, lastFrame: image },
  { references: [image] },
  { videos: ['https://a.example/1.mp4'] },
];

it.each(models)('%s: pixels cost what their resolution and ratio cost, and others are refused', (model) => {
  const start = starts.find((over) => refusal(model, over) === undefined);
  if (start === undefined) throw new Error('no request is accepted');
  const refused = refusal(model, { ...start, size: '500x1900' });
  expect(refused).toMatchObject({ code: 'unsupported_parameter', param: 'size' });
  const sizes = refused?.message.match(/(?<= )\d+x\d+(?=[,;.])/g) ?? [];
  expect(refused?.message).toContain(sizes.length > 0 ? 'It renders ' : 'Specify a resolution and a ratio');
  for (const size of sizes) {
    const bySize = plan(model, { ...start, size });
    const { resolution = '', ratio = '' } = bySize.request;
    expect(bySize.request.size).toBe(size);
    expect([size, bySize.hold]).toEqual([size, plan(model, { ...start, resolution, ratio }).hold]);
  }
});

describe('seedance-2.0', () => {
  const model = 'seedance-2.0';

  it.each([
    ['960x960', '720p', '1:1'],
    ['640x640', '480p', '1:1'],
    ['1280x720', '720p', '16:9'],
    ['854x480', '480p', '16:9'],
  ])('%s is %s at %s, to the hold and to the caller', (size, resolution, ratio) => {
    const { hold, shape, request } = plan(model, { size, duration: 5 });
    const named = plan(model, { resolution, ratio, duration: 5 });
    expect(request).toMatchObject({ resolution, ratio });
    expect([hold, shape]).toEqual([named.hold, named.shape]);
    expect(shape).toMatchObject({ resolution, ratio });
  });

  it('refuses other pixels with the list', () => {
    expect(refusal(model, { size: '1000x1000' })?.message).toContain(
      'Model seedance-2.0 does not render 1000x1000 for this request. It renders 720p: 1280x720, 720x1280, 960x960, 1112x834, 834x1112, 1470x630; 480p: 864x496, 496x864, 640x640',
    );
  });

  it.each<[Over, string[], Over]>([
    [{ size: '960x960', ratio: '1:1' }, [], { resolution: '720p', size: '960x960' }],
    [{ size: '960x960', resolution: '480p' }, ['size: overruled by resolution'], { ratio: '1:1' }],
    [
      { size: '960x960', resolution: '480p', ratio: '16:9' },
      ['size: overruled by resolution and ratio'],
      { resolution: '480p', ratio: '16:9' },
    ],
    [
      { size: '1000x1000', resolution: '480p', ratio: '1:1' },
      ['size: overruled by resolution and ratio'],
      { resolution: '480p', ratio: '1:1' },
    ],
  ])('%j: %j', (over, warnings, expected) => {
    const planned = plan(model, over);
    expect(planned.warnings).toEqual(warnings);
    expect(planned.request).toMatchObject(expected);
    expect(planned.request.size).toBe(expected.size);
  });
});
