import { canonicalJson } from '../../../base/canonical-json.ts';
import { servedFacts, type FactsSource } from '../../../models/facts-table.ts';
import type { ModelFacts, ParameterFacts } from '../../../models/model-facts.ts';
import type { GenerationRequest, JsonValue } from '../../../models/request.ts';
import type { Conformance } from './conformance.ts';
import { createDouble } from './double.ts';
import { runStep } from './run-step.ts';
import type { Specimen } from './specimens.ts';
import type { VerificationTest } from './verify.ts';

export function factsTests(given: Conformance): VerificationTest[] {
  const { accepted } = given.specimens;
  const source = sourceOf(given);
  if (accepted === undefined || source === undefined) return [];
  return modelsOf(given, accepted).flatMap((model) => {
    const facts = servedFacts(source, { upstream: model });
    return [
      ...offeredValues(facts, given.kind).map(([field, values]) => ({
        test: `sizes: each ${field} of ${model} is sent`,
        run: () => distinct({ given, accepted, model }, field, values),
      })),
      ...parametersOf(facts).map(([name, sample, sentAs]) => ({
        test: `parameters: ${name} of ${model} is sent`,
        run: () => isSent({ given, accepted, model }, { name, sample, sentAs }),
      })),
    ];
  });
}

function sourceOf({ provider, kind }: Conformance): FactsSource | undefined {
  return kind === 'video' ? provider.video?.facts : (provider.image ?? provider.imageTask)?.facts;
}

function modelsOf({ file, kind }: Conformance, { fixture }: Specimen): string[] {
  const table = kind === 'video' ? file.videos?.facts : file.images?.facts;
  const rows = (table?.models ?? []).map(({ model }) => model.replaceAll('*', ''));
  return [...new Set([fixture.model, ...rows])].filter((name) => name !== '');
}

type Values = readonly (string | number)[];

function offeredValues(facts: ModelFacts, kind: Conformance['kind']): (readonly [string, Values])[] {
  const { resolutions, ratios, seconds, sizes, qualities, fields = {} } = facts;
  const offered: readonly (readonly [string, Values | undefined])[] =
    kind === 'video'
      ? [
          ['resolution', resolutions?.length === 1 && fields.resolution !== true ? undefined : resolutions],
          ['ratio', ratios],
          ['duration', seconds?.only ?? spanOf(seconds)],
        ]
      : [
          ['size', sizesOf(sizes)],
          ['quality', qualities],
        ];
  return offered.flatMap(([field, values]) =>
    values === undefined || values.length === 0 ? [] : [[field, values]],
  );
}

function spanOf(seconds: ModelFacts['seconds']): Values | undefined {
  const { min, max } = seconds ?? {};
  return min === undefined || max === undefined || min === max ? undefined : [min, max];
}

function sizesOf(sizes: ModelFacts['sizes']): Values | undefined {
  if (sizes === undefined) return undefined;
  const { only = [], classes = {}, about, ratios = [], pixels } = sizes;
  const free = pixels === undefined ? [] : ['1024x1024', '2048x1024'];
  const shaped = about === undefined ? [] : ratios.map((ratio) => pixelsOf(ratio, about));
  return [...new Set([...only, ...Object.keys(classes), ...shaped, ...free])];
}

function pixelsOf(ratio: string, about: number): string {
  const [wide = 1, high = 1] = ratio.split(':').map(Number);
  const width = Math.sqrt((about * wide) / high);
  return `${Math.round(width)}x${Math.round((width * high) / wide)}`;
}

interface Sending {
  readonly given: Conformance;
  readonly accepted: Specimen;
  readonly model: string;
}

async function sentWith(
  { given, accepted, model }: Sending,
  fields: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const { authentication } = given.file;
  const { context, sent } = createDouble({ model, authentication, answers: accepted.answers });
  const request: GenerationRequest = { ...accepted.request, ...fields };
  await runStep(accepted.step.do, {
    provider: given.provider,
    request,
    context,
    operation: { id: 'fixture' },
  });
  const [first] = sent;
  return first === undefined
    ? undefined
    : canonicalJson([first.path, first.json ?? null, first.form ?? null]);
}

async function distinct(sending: Sending, field: string, values: Values): Promise<string | undefined> {
  const seen = new Map<string, string | number>();
  for (const value of values) {
    // oxlint-disable-next-line no-await-in-loop -- one thread evaluates all of them
    const sent = await sentWith(sending, { [field]: value });
    if (sent === undefined) return `nothing is sent for ${value}`;
    const other = seen.get(sent);
    if (other !== undefined) return `${value} and ${other} produce the same request`;
    seen.set(sent, value);
  }
  if (seen.size > 1) return undefined;
  const without = await sentWith(sending, { [field]: undefined });
  return without !== undefined && seen.has(without)
    ? `${String(values[0])} produces the same request as no value`
    : undefined;
}

interface Sample {
  readonly name: string;
  readonly sample: JsonValue;
  readonly sentAs: string;
}

function parametersOf({ parameters = {} }: ModelFacts): (readonly [string, JsonValue, string])[] {
  return Object.entries(parameters).flatMap(([name, facts]) =>
    facts.read === true || facts.values?.length === 0
      ? []
      : [[name, sampleOf(facts), facts.sent_as ?? name] as const],
  );
}

function sampleOf({ type, values, min }: ParameterFacts): JsonValue {
  const samples = {
    text: 'sample',
    number: min ?? 1,
    integer: min ?? 1,
    flag: true,
    list: ['sample'],
    object: {},
  };
  return values?.[0] ?? samples[type ?? 'text'];
}

async function isSent(sending: Sending, { name, sample, sentAs }: Sample): Promise<string | undefined> {
  const extra = { ...sending.accepted.request.extra, [name]: sample };
  const sent = await sentWith(sending, { extra });
  return sent?.includes(`"${sentAs}":`) === true ? undefined : `the request has no ${sentAs}`;
}
