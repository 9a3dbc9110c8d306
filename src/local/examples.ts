import type { ChannelConfig, GatewayConfig, ModelConfig, ServedModel } from '../config/gateway-file.ts';
import type { ImageRequest, JsonObject } from '../domain/request.ts';
import type { Provider } from '../providers/provider.ts';
import { imageIssue } from '../routing/image-issue.ts';

/** Requests that work with the configuration in use, for the banner and the demo: they name no model by heart. */
export interface Examples {
  readonly video: JsonObject | undefined;
  /** Answered with the image. */
  readonly image: JsonObject | undefined;
  /** Answered with a task. */
  readonly imageTask: JsonObject | undefined;
}

const prompt = 'a paper boat on a rainy street';

export function findExamples(config: GatewayConfig, providers: Readonly<Record<string, Provider>>): Examples {
  const serving = ({ id }: ModelConfig): Served[] =>
    config.channels.flatMap((channel) => {
      const provider = providers[channel.provider];
      const served = channel.models[id];
      if (!channel.enabled || provider === undefined || served === undefined) return [];
      return [{ channel, provider, ...served }];
    });
  const video = config.models.find(
    (model) =>
      model.kind === 'video' &&
      model.input_types.includes('text_to_video') &&
      serving(model).some(({ provider }) => provider.video !== undefined),
  );
  const images = config.models.filter(({ kind }) => kind === 'image');
  const image = images.find((model) => serving(model).some((served) => answersAtOnce(model, served)));
  const imageTask = images.find((model) => {
    const channels = serving(model);
    return channels.length > 0 && channels.every((served) => answersWithTask(model, served));
  });
  return {
    video: video === undefined ? undefined : videoExample(video),
    image: image === undefined ? undefined : { ...imageExample(image), response_format: 'b64_json' },
    imageTask: imageTask === undefined ? undefined : imageExample(imageTask),
  };
}

interface Served extends ServedModel {
  readonly channel: ChannelConfig;
  readonly provider: Provider;
}

interface VideoModel {
  readonly id: string;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly durations?: { readonly min: number; readonly default?: number | undefined } | undefined;
}

/** Cheap and quick where the model leaves a choice. */
export function videoExample({ id, resolutions, ratios, durations }: VideoModel): JsonObject {
  const duration = durations?.default ?? durations?.min;
  const resolution = resolutions.includes('720p') ? '720p' : resolutions[0];
  const ratio = ratios.includes('16:9') ? '16:9' : ratios[0];
  return {
    model: id,
    prompt,
    ...(duration === undefined ? {} : { duration }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(ratio === undefined ? {} : { ratio }),
  };
}

function imageExample({ id, sizes, qualities }: ModelConfig): JsonObject {
  const [size] = sizes;
  return {
    model: id,
    prompt,
    ...(size === undefined ? {} : { size }),
    ...(qualities.includes('low') ? { quality: 'low' } : {}),
  };
}

function answersAtOnce(model: ModelConfig, served: Served): boolean {
  const { image } = served.provider;
  return image !== undefined && imageIssue(image, imageRequest(model), served) === undefined;
}

function answersWithTask(model: ModelConfig, served: Served): boolean {
  const { imageTask } = served.provider;
  if (imageTask === undefined) return false;
  return !answersAtOnce(model, served) && imageIssue(imageTask, imageRequest(model), served) === undefined;
}

function imageRequest(model: ModelConfig): ImageRequest {
  const [size] = model.sizes;
  return {
    kind: 'image',
    operation: 'generate',
    model: model.id,
    prompt,
    n: 1,
    images: [],
    extra: {},
    ...(size === undefined ? {} : { size }),
  };
}
