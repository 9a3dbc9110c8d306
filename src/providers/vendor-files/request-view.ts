import { defined } from '../../base/defined.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import type { FactsSource } from '../../models/facts-table.ts';
import type { FieldName, PlainFacts } from '../../models/model-facts.ts';
import type { GenerationRequest, ImageRequest, JsonObject, VideoRequest } from '../../models/request.ts';
import { readFacts, readImage } from '../shared/read-facts.ts';
import type { ProviderContext } from '../provider.ts';
import type { MediaMarks } from './media-marks.ts';

interface Viewing {
  readonly facts: FactsSource;
  readonly context: ProviderContext;
  readonly marks: MediaMarks;
}

/** Expressions see only the values that the facts allow us to send, under our own names. */
export function requestView(request: GenerationRequest, viewing: Viewing): object {
  return request.kind === 'video' ? videoView(request, viewing) : imageView(request, viewing);
}

function videoView(request: VideoRequest, { facts: source, context, marks }: Viewing): object {
  const facts = readFacts(request, source, context);
  const { fields = {} } = facts;
  const sent = <Value>(name: FieldName, value: Value): Value | undefined =>
    fields[name] === true ? value : undefined;
  const frame = (url: string | undefined) => (url === undefined ? undefined : marks.address(url));
  return defined({
    kind: 'video',
    model: context.model,
    prompt: request.prompt,
    mode: sent('mode', request.mode),
    resolution: sent('resolution', request.resolution),
    ratio: sent('ratio', request.ratio),
    duration: sent('duration', request.duration),
    draft: sent('draft', request.draft),
    generate_audio: sent('generate_audio', request.generateAudio),
    watermark: sent('watermark', request.watermark),
    return_last_frame: sent('return_last_frame', request.returnLastFrame),
    seed: sent('seed', request.seed),
    safety_identifier: sent('safety_identifier', request.safetyIdentifier),
    tools: sent('tools', request.tools),
    first_frame: frame(request.firstFrame),
    last_frame: frame(request.lastFrame),
    references: request.references.map(marks.address),
    videos: request.videos.map(marks.address),
    audios: request.audios.map(marks.address),
    parameters: passedOn(request, facts),
    read: readParameters(request, facts),
  });
}

/** Returns the parameters that the expression itself interprets. They are not passed on. */
function readParameters({ extra }: GenerationRequest, { parameters = {} }: PlainFacts): JsonObject {
  return Object.fromEntries(
    Object.entries(extra).filter(
      ([name]) => Object.hasOwn(parameters, name) && parameters[name]?.read === true,
    ),
  );
}

function imageView(request: ImageRequest, { facts, context, marks }: Viewing): object {
  const { passed, size, shape, facts: known } = readImage(request, facts, context);
  const { quality, ...parameters } = passed;
  return defined({
    kind: 'image',
    operation: request.operation,
    model: context.model,
    prompt: request.prompt,
    n: request.n,
    size,
    width: shape.pixels?.width,
    height: shape.pixels?.height,
    size_class: shape.class,
    size_ratio: shape.ratio,
    quality,
    images: request.images.map(marks.image),
    mask: request.mask === undefined ? undefined : marks.image(request.mask),
    response_format: request.responseFormat,
    parameters,
    read: readParameters(request, known),
  });
}
