import { defined } from '../../src/base/defined.ts';
import { parseSize } from '../../src/base/image-sizes.ts';
import { parseGatewayConfig, type ModelConfig } from '../../src/config/gateway-file.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import type { ImageRequest, VideoRequest } from '../../src/models/request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue, type RoutePlan } from '../../src/routing/catalogue.ts';
import { readRepositoryFile, variablesOf } from '../deploy/compose-file.ts';
import { asAsked, imageRequest, videoRequest } from '../providers/support.ts';
import { classOf, termsOf, type Rendered } from './price-lists.ts';
import { testBuyer } from '../support/buyer.ts';

export const exampleText = readRepositoryFile('gateway.example.yaml');
export const example = parseGatewayConfig(exampleText, 'test', {
  environment: Object.fromEntries(variablesOf(exampleText).map(({ name }) => [name, `dummy of ${name}`])),
  providerNames: Object.keys(providers),
});
const catalogue = createCatalogue({ current: () => example, providers, random: () => 0 });

export interface Case extends Rendered {
  readonly name: string;
  readonly asked: VideoRequest | ImageRequest;
  readonly plan: RoutePlan;
}

export const inputSeconds = 5;
export const picture = 'https://media.example/a.png';
export const film = 'https://media.example/a.mp4';
const usualSizes: Readonly<Record<string, string>> = {
  '480p': '864x480',
  '720p': '1280x720',
  '1080p': '1920x1080',
};
/** Fewer output tokens than any model in the example really uses, so that the charge stays below the hold. */
const qualityTokens: Readonly<Record<string, number>> = { low: 150, medium: 350 };

function planOf(request: VideoRequest | ImageRequest): RoutePlan | undefined {
  const asked = request.kind === 'video' ? asAsked(request) : { ...request, named: {} };
  try {
    return catalogue.plan(asked, testBuyer, { inputSeconds: videosOf(request) * inputSeconds });
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function videosOf(request: VideoRequest | ImageRequest): number {
  return request.kind === 'video' ? request.videos.length : 0;
}

/** The simulator counts one token per 4 characters and 258 per media item. */
function inputTokensOf({ prompt, firstFrame, references, videos }: VideoRequest): number {
  const frames = firstFrame === undefined ? 0 : 1;
  return Math.ceil(prompt.length / 4) + 258 * (frames + references.length + videos.length);
}

function videoCase(name: string, over: Partial<VideoRequest>): Case[] {
  const { model = '', duration, generateAudio, draft, extra = {} } = over;
  const asked = videoRequest({ ratio: '16:9', ...over });
  const plan = planOf(asked);
  if (plan?.request.kind !== 'video' || typeof duration !== 'number') return [];
  const { videos, references, firstFrame } = plan.request;
  const given = videos.length * inputSeconds;
  const terms = termsOf.get(model);
  const { resolution: asks = '720p' } = over;
  const resolution = videos.length > 0 ? (terms?.edited ?? asks) : asks;
  const size = terms?.sizes?.[resolution] ?? usualSizes[resolution] ?? '1280x720';
  const { width, height } = parseSize(size) ?? { width: 0, height: 0 };
  // The formula that the vendor documents. It also counts the seconds of input.
  const tokens = (width * height * (24 * (duration + given) + 1)) / 1024;
  const hasSound = generateAudio ?? terms?.reports_sound;
  const sound = hasSound === undefined ? undefined : hasSound ? 'sound' : 'silent';
  const words = [
    resolution,
    sound,
    draft === true ? 'draft' : undefined,
    videos.length > 0 ? 'video' : undefined,
  ];
  return [
    {
      name,
      asked,
      plan,
      facts: {
        durationSeconds: duration,
        resolution,
        ratio: '16:9',
        ...defined({ generateAudio: hasSound }),
        ...(terms?.input_second === undefined ? {} : { inputSeconds: given }),
        usage: {
          ...(terms?.by === 'million_tokens' ? { completionTokens: Math.floor(tokens) } : {}),
          ...(terms?.tokens === undefined ? {} : { inputTextTokens: inputTokensOf(asked) }),
        },
      },
      words: [...words, extra['service_tier']].filter((word) => typeof word === 'string'),
      counts: {
        output: terms?.by === 'million_tokens' ? Math.floor(tokens) / 1e6 : duration,
        input_second: given,
        reference_image: references.length,
        input_image: references.length + (firstFrame === undefined ? 0 : 1),
        megapixel: 0,
      },
    },
  ];
}

function videoCases({ id: model, resolutions, durations, inputs }: ModelConfig): Case[] {
  const [first = '720p'] = resolutions;
  const usual = durations?.default ?? 5;
  const base = { model, duration: usual, resolution: first };
  const references = Array.from({ length: inputs?.images?.max ?? 0 }, () => picture);
  const hasFlex = Object.keys(termsOf.get(model)?.prices ?? {}).some((words) => words.includes('flex'));
  return [
    ...resolutions.flatMap((resolution) => [
      ...videoCase(`${resolution}`, { ...base, resolution }),
      ...videoCase(`${resolution} with sound`, { ...base, resolution, generateAudio: true }),
      ...videoCase(`${resolution} without sound`, { ...base, resolution, generateAudio: false }),
      ...videoCase(`${resolution} from a frame`, { ...base, resolution, firstFrame: picture }),
      ...videoCase(`${resolution} with a video`, {
        ...base,
        resolution,
        duration: inputSeconds,
        videos: [film],
      }),
    ]),
    ...videoCase('the shortest', { ...base, duration: durations?.min ?? usual }),
    ...videoCase('the longest', { ...base, duration: durations?.max ?? usual }),
    ...videoCase('the longest from a frame', {
      ...base,
      duration: durations?.max ?? usual,
      firstFrame: picture,
    }),
    ...videoCase('a reference', { ...base, references: [picture] }),
    ...videoCase('the most references', { ...base, references }),
    ...videoCase('a draft', { ...base, draft: true }),
    ...(hasFlex ? videoCase('flex', { ...base, extra: { service_tier: 'flex' } }) : []),
  ];
}

function imageCase(name: string, over: Partial<ImageRequest>): Case[] {
  const { model = '', size, quality } = over;
  const asked = imageRequest(over);
  const plan = planOf(asked);
  if (plan?.request.kind !== 'image') return [];
  const { n, images } = plan.request;
  const pixels = parseSize(size);
  const terms = termsOf.get(model);
  const output = (qualityTokens[quality ?? ''] ?? 1_056) * n;
  return [
    {
      name,
      asked,
      plan,
      facts: {
        images: n,
        ...defined({ size: pixels === undefined ? undefined : size }),
        ...(terms?.by === 'tokens'
          ? {
              usage: {
                completionTokens: output,
                inputTextTokens: 12,
                inputImageTokens: 323 * images.length,
                cachedTokens: 5,
              },
            }
          : {}),
      },
      words: [size, size === undefined ? undefined : classOf(size), quality].filter(
        (word) => word !== undefined,
      ),
      counts: {
        output: terms?.by === 'tokens' ? output / 1e6 : n,
        input_second: 0,
        reference_image: images.length,
        input_image: images.length,
        megapixel: pixels === undefined ? 0 : Math.ceil((pixels.width * pixels.height) / 1024 ** 2),
      },
    },
  ];
}

function imageCases({ id: model, sizes, qualities, inputs, n }: ModelConfig): Case[] {
  const named = sizes.filter((size) => size !== 'auto');
  const [size = '1024x1024'] = named;
  const images = Array.from(
    { length: inputs?.images?.max ?? 0 },
    () => ({ form: 'url', url: picture }) as const,
  );
  const edited = { model, size, operation: 'edit' } as const;
  return [
    ...named.flatMap((one) => imageCase(one, { model, size: one })),
    ...qualities
      .filter((quality) => quality !== 'auto')
      .flatMap((quality) => imageCase(`quality ${quality}`, { model, size, quality })),
    ...(n.max > 1 ? imageCase('two', { model, size, n: 2 }) : []),
    ...(images.length === 0
      ? []
      : [
          ...imageCase('a reference', { ...edited, images: images.slice(0, 1) }),
          ...imageCase('the most references', { ...edited, images }),
        ]),
  ];
}

export const casesOf = (model: ModelConfig) =>
  model.kind === 'video' ? videoCases(model) : imageCases(model);
