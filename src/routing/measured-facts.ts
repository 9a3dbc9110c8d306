import { defined } from '../base/defined.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import type { VideoShape } from '../models/video-shapes.ts';
import { groupedFacts } from '../money/charge.ts';
import type { SettleFacts } from '../money/settle-facts.ts';
import type { ResultItem } from '../task/task.ts';
import type { LinkHeaders } from './channels.ts';

export interface ResultToMeasure {
  readonly task: string;
  readonly item: ResultItem;
  /** The channel whose answer contains the link. */
  readonly channel: string;
  readonly headersFor: LinkHeaders;
}

/** Never rejects. Undefined: the file could not be read in time. */
export type MeasureResult = (result: ResultToMeasure) => Promise<MediaFacts | undefined>;

/** Whether the upstream did not report facts that can be read from the result. */
export function needsMeasuring(kind: TaskKind, facts: SettleFacts): boolean {
  const { durationSeconds, size, resolution, ratio, groups } = facts;
  if (kind === 'image') return size === undefined && groups === undefined;
  const hasShape = size !== undefined || (resolution !== undefined && ratio !== undefined);
  return durationSeconds === undefined || !hasShape;
}

/** Adds the facts that the upstream did not report. `shapeOf` finds the model's shape for these pixels. */
export function withMeasured(
  facts: SettleFacts,
  media: MediaFacts | undefined,
  shapeOf: (size: string) => VideoShape | undefined,
): SettleFacts {
  if (media?.mediaType.startsWith('video/') !== true) return facts;
  const size = sizeOf(media);
  const shape = size === undefined || facts.size !== undefined ? undefined : shapeOf(size);
  return completed(facts, {
    ...defined({ durationSeconds: secondsOf(media), size }),
    ...(facts.resolution === undefined && facts.ratio === undefined
      ? defined({ resolution: shape?.resolution, ratio: shape?.ratio })
      : {}),
  });
}

/** Adds the pixel size of each image. `media` has one element for each image. */
export function withMeasuredImages(
  facts: SettleFacts,
  media: readonly (MediaFacts | undefined)[],
): SettleFacts {
  const sizes = media.map((one) => (one?.mediaType.startsWith('image/') === true ? sizeOf(one) : undefined));
  if (sizes.every((size) => size === undefined)) return facts;
  const { quality } = facts;
  const groups = sizes.map((size) => ({ images: 1, ...defined({ size, quality }) }));
  return { ...facts, ...groupedFacts(groups), measured: ['size'] };
}

type Measured = Pick<SettleFacts, 'durationSeconds' | 'size' | 'resolution' | 'ratio'>;

const nameOfFact = {
  durationSeconds: 'duration',
  size: 'size',
  resolution: 'resolution',
  ratio: 'ratio',
} as const;
const measurable = ['durationSeconds', 'size', 'resolution', 'ratio'] as const;

function completed(facts: SettleFacts, found: Measured): SettleFacts {
  const added = measurable.filter((name) => facts[name] === undefined && found[name] !== undefined);
  if (added.length === 0) return facts;
  return { ...found, ...facts, measured: added.map((name) => nameOfFact[name]) };
}

function sizeOf({ width, height }: MediaFacts): string | undefined {
  return width === undefined || height === undefined ? undefined : `${width}x${height}`;
}

/** Seconds. A video of five seconds often has one frame more or less, for example 5.04 s. */
const frameTolerance = 0.15;

function secondsOf({ seconds }: MediaFacts): number | undefined {
  if (seconds === undefined) return undefined;
  const whole = Math.round(seconds);
  return whole > 0 && Math.abs(seconds - whole) <= frameTolerance ? whole : Math.round(seconds * 100) / 100;
}
