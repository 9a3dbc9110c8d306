import { measureSells, type Measure } from '../money/measures.ts';
import { flagFacts, holds, measuresOf, requiredMeasures, textFacts } from '../money/price.ts';
import type { Price, PriceCondition, PriceFacts } from '../money/price.ts';
import type { TaskKind } from '../base/task-kind.ts';

/** Contains only what price lines can distinguish. */
export interface SoldModel {
  readonly kind: TaskKind;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly sizes: readonly string[];
  readonly qualities: readonly string[];
  readonly durations?: { readonly min: number; readonly max: number; readonly auto: boolean } | undefined;
  readonly inputs: Readonly<Record<'images' | 'videos' | 'audios', { readonly max: number }>>;
  readonly price: Pick<Price, 'lines'>;
  readonly channels: readonly string[];
}

export interface PriceIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type FactName = keyof PriceFacts;
type FactValue = string | number | boolean | undefined;
type Domain = Readonly<Record<FactName, readonly FactValue[]>>;

const factNames: readonly FactName[] = [...textFacts, ...flagFacts, 'duration'];

export function checkPrices(model: SoldModel): PriceIssue[] {
  const { lines } = model.price;
  const measures = measuresOf(model.price);
  const required = requiredMeasures(model.price);
  const foreign = lines.flatMap(({ measure }, index) =>
    measureSells(measure, model.kind)
      ? []
      : [
          {
            path: ['price', 'lines', index, 'measure'],
            message: `${model.kind}s cannot be sold by the ${measure}`,
          },
        ],
  );
  const nothing = {
    path: ['price', 'lines'],
    message: 'charge nothing for the output: at least one line must measure the output or the call',
  };
  const possible = possibleFacts(model);
  const lineIssues = measures.flatMap((measure) => checkLines(model, measure, possible));
  const gaps = required.flatMap((measure) => gapOf(model, measure));
  return [...foreign, ...(required.length === 0 ? [nothing] : []), ...lineIssues, ...gaps];
}

function gapOf(model: SoldModel, measure: Measure): PriceIssue[] {
  const gap = findCase(
    soldFacts(model),
    linesOf(model, measure).map(({ when }) => when),
  );
  return gap === undefined
    ? []
    : [
        {
          path: ['price', 'lines'],
          message: `no line sets a price per ${measure} for ${describeCase(gap, model)}`,
        },
      ];
}

function linesOf({ price: { lines } }: SoldModel, measure: Measure) {
  return lines.flatMap(({ measure: own, when = {} }, index) => (own === measure ? [{ when, index }] : []));
}

function checkLines(model: SoldModel, measure: Measure, possible: Domain): PriceIssue[] {
  const lines = linesOf(model, measure);
  return lines.flatMap(({ when, index }, position) => {
    const earlier = lines.slice(0, position).map((line) => line.when);
    return checkLine({ when, earlier, path: ['price', 'lines', index] }, possible);
  });
}

interface CheckedLine {
  readonly when: PriceCondition;
  readonly earlier: readonly PriceCondition[];
  readonly path: PriceIssue['path'];
}

function checkLine({ when, earlier, path }: CheckedLine, possible: Domain): PriceIssue[] {
  const { min, max } = when.duration ?? {};
  if (min !== undefined && max !== undefined && min > max) {
    return [{ path: [...path, 'when', 'duration'], message: `min ${min} is above max ${max}` }];
  }
  const never = testedBy(when).filter((name) => matching(possible, name, when).length === 0);
  if (never.length > 0) {
    return never.map((name) => ({
      path: [...path, 'when', name],
      message: 'never matches: no request for this model has such a value',
    }));
  }
  const own = testedBy(when).reduce(
    (domain, name) => narrow(domain, name, matching(domain, name, when)),
    possible,
  );
  if (findCase(own, earlier) !== undefined) return [];
  return [
    {
      path,
      message:
        'is never reached: earlier lines with the same measure match everything that this line matches',
    },
  ];
}

function findCase(domain: Domain, conditions: readonly PriceCondition[]): Domain | undefined {
  const [first, ...rest] = conditions;
  if (first === undefined) return domain;
  for (const name of testedBy(first)) {
    const holding = new Set(matching(domain, name, first));
    const others = domain[name].filter((value) => !holding.has(value));
    const found = others.length === 0 ? undefined : findCase(narrow(domain, name, others), rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

function testedBy(when: PriceCondition): FactName[] {
  return factNames.filter((name) => when[name] !== undefined);
}

function matching(domain: Domain, name: FactName, when: PriceCondition): FactValue[] {
  return domain[name].filter((value) => holds({ [name]: when[name] }, { [name]: value }));
}

function narrow(domain: Domain, name: FactName, values: readonly FactValue[]): Domain {
  return { ...domain, [name]: values };
}

const openWords = new Set(['adaptive', 'auto']);

/**
 * Returns the values that each fact of a job may have. Undefined stands for a fact that the upstream does not report. A
 * price line may still match it.
 */
function possibleFacts(model: SoldModel): Domain {
  const { price, durations, kind } = model;
  const isVideo = kind === 'video';
  const named = (name: (typeof textFacts)[number]) => price.lines.flatMap(({ when }) => when?.[name] ?? []);
  const listed = (values: readonly string[], name: (typeof textFacts)[number]) =>
    values.length === 0 ? named(name) : values;
  // A draft has its own resolution, and an adaptive ratio may become any ratio.
  const drafts = price.lines.flatMap(({ when }) => (when?.draft === true ? (when.resolution ?? []) : []));
  const anyRatio = model.ratios.includes('adaptive') ? named('ratio') : [];
  const free = (name: (typeof textFacts)[number], has: boolean) => (has ? named(name) : []);
  return {
    resolution: isVideo ? [...listed(model.resolutions, 'resolution'), ...drafts, undefined] : [undefined],
    ratio: isVideo ? [...listed(model.ratios, 'ratio'), ...anyRatio, undefined] : [undefined],
    size: [...(isVideo ? named('size') : listed(model.sizes, 'size')), undefined],
    quality: [...(isVideo ? [] : listed(model.qualities, 'quality')), undefined],
    mode: [...free('mode', isVideo), undefined],
    service_tier: [...free('service_tier', isVideo), undefined],
    channel: model.channels,
    ...inputFlags(model),
    generate_audio: isVideo ? [false, true] : [false],
    draft: isVideo ? [false, true] : [false],
    duration: isVideo
      ? [...lengths(price.lines, durations?.auto === true ? undefined : durations), undefined]
      : [undefined],
  };
}

/** Returns the values that each fact of a plain request may have, limited to what the model lists. */
function soldFacts(model: SoldModel): Domain {
  const { price, durations, kind } = model;
  const listed = (values: readonly string[]): readonly FactValue[] => {
    const concrete = values.filter((value) => !openWords.has(value));
    return concrete.length === 0 ? [undefined] : concrete;
  };
  const whole = durations === undefined ? [] : lengths(price.lines, durations).filter(Number.isInteger);
  return {
    resolution: listed(kind === 'video' ? model.resolutions : []),
    ratio: listed(kind === 'video' ? model.ratios : []),
    size: listed(kind === 'image' ? model.sizes : []),
    quality: listed(kind === 'image' ? model.qualities : []),
    mode: [undefined],
    service_tier: [undefined],
    channel: model.channels,
    ...inputFlags(model),
    generate_audio: [false],
    draft: [false],
    duration:
      kind === 'video' && durations !== undefined ? [durations.min, durations.max, ...whole] : [undefined],
  };
}

function inputFlags({ inputs }: SoldModel): Pick<Domain, 'video_input' | 'audio_input' | 'image_input'> {
  const may = (field: keyof SoldModel['inputs']) => (inputs[field].max > 0 ? [false, true] : [false]);
  return { video_input: may('videos'), audio_input: may('audios'), image_input: may('images') };
}

/**
 * Returns the durations to check: both ends of the range, and each line's bounds with their neighbours. Between two
 * consecutive durations, the matching line never changes.
 */
function lengths(
  lines: Price['lines'],
  range: { readonly min: number; readonly max: number } | undefined,
): number[] {
  const bounds = lines.flatMap(({ when }) => [when?.duration?.min ?? [], when?.duration?.max ?? []].flat());
  const beside = bounds.flatMap((bound) => [
    bound,
    bound - 0.001,
    bound + 0.001,
    Math.ceil(bound) - 1,
    Math.floor(bound) + 1,
  ]);
  const { min, max } = range ?? { min: 0, max: Infinity };
  return [...beside, ...(range === undefined ? [1] : [min, max])].filter(
    (seconds) => seconds >= min && seconds <= max,
  );
}

function describeCase(found: Domain, { price, channels }: SoldModel): string {
  const tested = factNames.filter((name) => price.lines.some(({ when }) => when?.[name] !== undefined));
  const words = tested
    .filter((name) => name !== 'channel' || channels.length > 1)
    .map((name) => `${name} ${found[name][0] === undefined ? 'not given' : String(found[name][0])}`);
  return words.length === 0 ? 'any request' : words.join(', ');
}
