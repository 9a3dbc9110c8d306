import { inputsOf, itemsMax, ruleNames } from '../../models/field-mapping.ts';
import type { FieldMapping, MappedInput } from '../../models/field-mapping.ts';
import { defined } from '../../base/defined.ts';
import { fieldNames, imageFieldNames } from '../../models/model-facts.ts';
import type {
  FactsCondition,
  FieldName,
  ImageFacts,
  MediaFacts,
  PlainFacts,
  VideoFacts,
} from '../../models/model-facts.ts';
import { plainParameters } from './read-facts.ts';

export function mappedVideoFacts(mapping: FieldMapping | undefined): VideoFacts {
  if (mapping === undefined) return {};
  const fieldsOf = sentFields(mapping, fieldNames);
  return {
    media: mediaOf(mapping),
    fields: fieldsOf('text_to_video'),
    ...namesOf(mapping),
    cases: inputCases.map(([when, input]) => ({ when, facts: { fields: fieldsOf(input) } })),
  };
}

export function mappedImageFacts(mapping: FieldMapping | undefined): ImageFacts {
  if (mapping === undefined) return {};
  const { fields, endpoints } = mapping;
  const fieldsOf = sentFields(mapping, imageFieldNames);
  const max = itemsSent(mapping, 'images', 'edit');
  return {
    ...(fields.n === undefined ? { images: { max: 1 } } : {}),
    references: {
      ...(endpoints !== undefined && endpoints.generate === undefined ? { min: 1 } : {}),
      ...(max === Infinity ? {} : { max }),
      mask: fields.mask !== undefined,
    },
    fields: fieldsOf('generate'),
    ...namesOf(mapping),
    cases: [{ when: { brings: ['references'] }, facts: { fields: fieldsOf('edit') } }],
  };
}

/**
 * Extra parameters come from a video request's `metadata` or an image request's additional fields. The names that the
 * mapping itself writes are reserved.
 */
function namesOf({ fields, constants, pass, marker }: FieldMapping): PlainFacts {
  return {
    parameters: plainParameters(...pass),
    reserved: [
      ...Object.values(fields).flatMap(ruleNames),
      ...Object.keys(constants),
      ...(marker === undefined ? [] : [marker]),
    ],
  };
}

const inputCases: readonly (readonly [FactsCondition, MappedInput])[] = [
  [{ brings: ['references', 'videos', 'audios'] }, 'reference'],
  [{ brings: ['first_frame'] }, 'first_last_frame'],
];

function sentFields({ fields }: FieldMapping, names: readonly FieldName[]) {
  return (input: MappedInput): NonNullable<PlainFacts['fields']> => {
    const sent = names.map((name) => {
      const rule = name === 'tools' ? undefined : fields[name];
      return [name, rule !== undefined && inputsOf(name, rule).includes(input)] as const;
    });
    return Object.fromEntries(sent);
  };
}

type MediaField = 'first_frame' | 'last_frame' | 'images' | 'videos' | 'audios';

function itemsSent({ fields, endpoints }: FieldMapping, field: MediaField, input: MappedInput): number {
  const rule = fields[field];
  const isSent = rule !== undefined && rule.fixed === undefined && inputsOf(field, rule).includes(input);
  return isSent && (endpoints === undefined || endpoints[input] !== undefined) ? itemsMax(field, rule) : 0;
}

function mediaOf(mapping: FieldMapping): MediaFacts {
  const max = (field: MediaField, input: MappedInput) => itemsSent(mapping, field, input);
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
