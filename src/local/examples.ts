import type { GatewayConfig, ModelConfig } from '../config/gateway-file.ts';
import { defined } from '../base/defined.ts';
import type { ImageRequest, JsonObject } from '../models/request.ts';
import type { Provider } from '../providers/provider.ts';
import { capabilityFor, offerOf, type Offer } from '../routing/capability.ts';

/**
 * The banner and the demo show these requests. They are derived from the configuration, which determines the available
 * models.
 */
export interface Examples {
  readonly video: JsonObject | undefined;
  readonly image: JsonObject | undefined;
  readonly imageTask: JsonObject | undefined;
}

const prompt = 'a paper boat on a rainy street';

export function findExamples(config: GatewayConfig, providers: Readonly<Record<string, Provider>>): Examples {
  const serving = ({ id, kind }: ModelConfig): Offer[] =>
    config.channels.flatMap(({ enabled, provider, models }) => {
      const offer = enabled ? offerOf(providers[provider], kind, models[id]) : undefined;
      return offer === undefined ? [] : [offer];
    });
  const video = config.models.find(
    (model) =>
      model.kind === 'video' && model.input_types.includes('text_to_video') && serving(model).length > 0,
  );
  const images = config.models.filter(({ kind }) => kind === 'image');
  const image = images.find((model) => serving(model).some((offer) => wayOf(model, offer) === 'at_once'));
  const imageTask = images.find((model) => {
    const channels = serving(model);
    return channels.length > 0 && channels.every((offer) => wayOf(model, offer) === 'task');
  });
  return {
    video: video === undefined ? undefined : videoExample(video),
    image: image === undefined ? undefined : { ...imageExample(image), response_format: 'b64_json' },
    imageTask: imageTask === undefined ? undefined : imageExample(imageTask),
  };
}

interface VideoModel {
  readonly id: string;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly durations?: { readonly min: number; readonly default?: number | undefined } | undefined;
}

export function videoExample({ id, resolutions, ratios, durations }: VideoModel) {
  const duration = durations?.default ?? durations?.min;
  const resolution = resolutions.includes('720p') ? '720p' : resolutions[0];
  const ratio = ratios.includes('16:9') ? '16:9' : ratios[0];
  return { model: id, prompt, ...defined({ duration, resolution, ratio }) };
}

function imageExample({ id, sizes, qualities }: ModelConfig): JsonObject {
  const quality = qualities.includes('low') ? 'low' : undefined;
  return { model: id, prompt, ...defined({ size: sizes[0], quality }) };
}

function wayOf(model: ModelConfig, offer: Offer): 'at_once' | 'task' | undefined {
  const capability = capabilityFor(offer, imageRequest(model));
  if (capability === undefined || capability.issue !== undefined) return undefined;
  return capability.canWait ? 'task' : 'at_once';
}

function imageRequest(model: ModelConfig): ImageRequest {
  const size = defined({ size: model.sizes[0] });
  return {
    kind: 'image',
    operation: 'generate',
    model: model.id,
    prompt,
    n: 1,
    images: [],
    extra: {},
    ...size,
  };
}
