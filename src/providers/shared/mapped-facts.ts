import { inputsOf, itemsMax, ruleNames } from '../../domain/field-mapping.ts';
import type { FieldMapping, MappedInput } from '../../domain/field-mapping.ts';
import { defined } from '../../domain/defined.ts';
import { fieldNames } from '../../domain/model-facts.ts';
import type { FactsCondition, MediaFacts, PlainFacts, VideoFacts } from '../../domain/model-facts.ts';

/** What a mapping has room for; what its rules say of values, and what it has no field for, `mappedIssue` refuses. */
export function mappedVideoFacts(mapping: FieldMapping | undefined): VideoFacts {
  if (mapping === undefined) return {};
  const { fields, constants, pass, marker } = mapping;
  return {
    media: mediaOf(mapping),
    fields: fieldsOf(mapping, 'text_to_video'),
    parameters: Object.fromEntries(pass.map((name) => [name, {}])),
    reserved: [
      ...Object.values(fields).flatMap(ruleNames),
      ...Object.keys(constants),
      ...(marker === undefined ? [] : [marker]),
    ],
    cases: inputCases.map(([when, input]) => ({ when, facts: { fields: fieldsOf(mapping, input) } })),
  };
}

/** Frames before references, as `inputTypeOf` has it. */
const inputCases: readonly (readonly [FactsCondition, MappedInput])[] = [
  [{ brings: ['references', 'videos', 'audios'] }, 'reference'],
  [{ brings: ['first_frame'] }, 'first_last_frame'],
];

function fieldsOf({ fields }: FieldMapping, input: MappedInput): NonNullable<PlainFacts['fields']> {
  const sent = fieldNames.map((name) => {
    const rule = name === 'tools' ? undefined : fields[name];
    return [name, rule !== undefined && inputsOf(name, rule).includes(input)] as const;
  });
  return Object.fromEntries(sent);
}

type MediaField = 'first_frame' | 'last_frame' | 'images' | 'videos' | 'audios';

function mediaOf({ fields, endpoints }: FieldMapping): MediaFacts {
  const max = (field: MediaField, input: MappedInput) => {
    const rule = fields[field];
    const isSent = rule !== undefined && rule.fixed === undefined && inputsOf(field, rule).includes(input);
    return isSent && (endpoints === undefined || endpoints[input] !== undefined) ? itemsMax(field, rule) : 0;
  };
  const some = (kind: 'videos' | 'audios') => Math.max(max(kind, 'reference'), max(kind, 'first_last_frame'));
  const limit = (count: number) => (count === Infinity ? undefined : count);
  const beside = (['images', 'videos', 'audios'] as const).filter(
    (kind) => max(kind, 'first_last_frame') > 0,
  );
  const hasFirst = max('first_frame', 'first_last_frame') > 0;
  return {
    frames: hasFirst ? (max('last_frame', 'first_last_frame') > 0 ? 2 : 1) : 0,
    ...defined({
      references: limit(max('images', 'reference')),
      videos: limit(some('videos')),
      audios: limit(some('audios')),
    }),
    beside_frames: beside.map((kind) => (kind === 'images' ? 'references' : kind)),
  };
}
