/** What each model renders. Source: the vendor's parameter tables, 2026-09. */

export interface MinimaxModel {
  /** Which of the vendor's interfaces serves it. */
  readonly version: 1 | 2;
  /** In the vendor's spelling; the usual one first. */
  readonly resolutions: readonly string[];
  readonly seconds: readonly number[];
  /** Seconds of a resolution that renders fewer lengths. */
  readonly shorter?: Readonly<Record<string, readonly number[]>>;
  readonly promptCharactersMax: number;
  /** First and last frame; references of each kind. */
  readonly inputs: 'all' | 'text' | 'frames' | 'first_frame' | 'first_frame_only' | 'subject';
  /** It renders one length and resolution, and has no field for either. */
  readonly isFixed?: boolean;
}

const span = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const h3: MinimaxModel = {
  version: 2,
  resolutions: ['768P', '2K'],
  seconds: span(4, 15),
  promptCharactersMax: 7000,
  inputs: 'all',
};
const hailuo: MinimaxModel = {
  version: 1,
  resolutions: ['768P', '1080P'],
  seconds: [6, 10],
  shorter: { '1080P': [6] },
  promptCharactersMax: 2000,
  inputs: 'first_frame',
};
const first: MinimaxModel = { ...hailuo, resolutions: ['720P'], seconds: [6], inputs: 'text' };

/** The first pattern that fits counts; names that are not known are taken for the newest. */
const models: readonly (readonly [RegExp, MinimaxModel])[] = [
  [/^MiniMax-H3-Max/i, { ...h3, resolutions: ['768P', '480P'], seconds: span(5, 15) }],
  [/^MiniMax-Hailuo-2\.3-Fast/i, { ...hailuo, inputs: 'first_frame_only' }],
  [/^MiniMax-Hailuo-02/i, { ...hailuo, resolutions: ['768P', '512P', '1080P'], inputs: 'frames' }],
  [/^MiniMax-Hailuo/i, hailuo],
  [/^T2V-/i, first],
  [/^I2V-/i, { ...first, inputs: 'first_frame_only' }],
  [/^S2V-/i, { ...first, inputs: 'subject', isFixed: true }],
];

export function minimaxModel(name: string): MinimaxModel {
  return models.find(([pattern]) => pattern.test(name))?.[1] ?? h3;
}
