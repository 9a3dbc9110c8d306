import { defined } from '../base/defined.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import type { VideoShape } from '../models/video-shapes.ts';
import { groupedFacts } from '../money/charge.ts';
import type { SettleFacts } from '../money/settle-facts.ts';
import type { Task } from '../task/record.ts';
import type { ResultItem } from '../task/task.ts';
import type { LinkHeaders } from './channels.ts';
import { countedSeconds } from './counted-seconds.ts';

export interface ResultToMeasure {
  readonly task: string;
  readonly account: string;
  readonly item: ResultItem;
  readonly channel: string;
  readonly headersFor: LinkHeaders;
}

/** Never rejects. Resolves to undefined if the file cannot be read in time. */
export type MeasureResult = (result: ResultToMeasure) => Promise<MediaFacts | undefined>;

export function needsMeasuring(kind: TaskKind, facts: SettleFacts): boolean {
  const { durationSeconds, size, resolution, ratio, groups } = facts;
  if (kind === 'image') return size === undefined && groups === undefined;
  const hasShape = size !== undefined || (resolution !== undefined && ratio !== undefined);
  return durationSeconds === undefined || !hasShape;
}

export function withMeasured(
  facts: SettleFacts,
  media: MediaFacts | undefined,
  shapeOf: (size: string) => VideoShape | undefined,
): SettleFacts {
  if (media?.mediaType.startsWith('video/') !== true) return facts;
  const size = sizeOf(media);
  const shape = size === undefined || facts.size !== undefined ? undefined : shapeOf(size);
  return completed(facts, {
    ...defined({
      durationSeconds: media.seconds === undefined ? undefined : countedSeconds(media.seconds),
      size,
    }),
    ...(facts.resolution === undefined && facts.ratio === undefined
      ? defined({ resolution: shape?.resolution, ratio: shape?.ratio })
      : {}),
  });
}

export function withInputSeconds(facts: SettleFacts, seconds: Task['inputSeconds']): SettleFacts {
  if (facts.inputSeconds !== undefined || typeof seconds !== 'number') return facts;
  return { ...facts, inputSeconds: seconds, measured: [...(facts.measured ?? []), 'input_seconds'] };
}

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
