import { defined } from '../../base/defined.ts';
import type { FactsCondition, MediaPart, PlainFacts, VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { runwayModels, type RunwayModel, type Shapes } from './runway-models.ts';
import { secondsUnsaid, shapesOf, usualFirst, type RunwayInputs } from './runway-shape.ts';

/** Runway accepts HTTPS addresses with a domain name, data URLs, and uploads to the vendor. */
export const runwayAddresses = { schemes: ['https', 'data', 'runway'], characters: 2048 };

const { schemes, characters } = runwayAddresses;
const usual: VideoFacts = {
  addresses: { images: schemes, videos: schemes, audios: schemes, characters },
  fields: { resolution: true, ratio: true, duration: true, generate_audio: true, seed: true },
  // If the model is unknown, a video is always sent as a reference.
  parameters: { video_task: { values: ['reference'], read: true } },
  reserved: [
    'model',
    'promptText',
    'promptImage',
    'promptVideo',
    'videoUri',
    'references',
    'referenceVideos',
    'referenceAudio',
    'referenceImages',
    'ratio',
    'targetAspectRatio',
    'resolution',
    'duration',
    'audio',
    'seed',
    'outputFormat',
    'outputCount',
    'mode',
  ],
  other_parameters: true,
};

const partsOf: Readonly<Record<RunwayInputs['operation'], MediaPart[]>> = {
  text: [],
  image: ['first_frame'],
  references: ['references', 'videos', 'audios'],
  edit: ['videos'],
  extend: ['videos'],
};
const sounds: MediaPart[] = ['audios'];

function factsOf(model: RunwayModel): VideoFacts {
  const { sound, seed, wordless, promptMax, references } = model;
  const isEdit = model.edit === undefined ? [] : [{ when: editedWhen(model), facts: editFacts(model) }];
  const continued = model.edit?.extends === true ? [extension(model)] : [];
  const videoTask = { video_task: { values: tasksOf(model), read: true } } as const;
  return {
    ...usual,
    ...shapeFacts(model, 'text'),
    media: mediaFacts(model),
    prompt: {
      characters: promptMax,
      wordless: wordless.flatMap((operation) => (operation === 'edit' ? [] : partsOf[operation])),
    },
    seconds: lengthsOf(model),
    sound: sound === 'unknown' ? 'fixed' : sound,
    fields: { ...usual.fields, seed },
    parameters: {
      ...usual.parameters,
      video_task: { values: [], read: true },
      ...(model.negativePrompt === true
        ? { negative_prompt: { type: 'text', sent_as: 'negativePrompt' } }
        : {}),
    },
    cases: [
      { when: { brings: partsOf.references }, facts: shapeFacts(model, 'references') },
      { when: { brings: partsOf.image }, facts: shapeFacts(model, 'image') },
      ...namedShapes(model),
      { when: { brings: partsOf.edit }, facts: { parameters: videoTask } },
      ...isEdit,
      ...continued,
      ...(references.includes('audios')
        ? [{ when: { brings: sounds }, facts: { prompt: { wordless: [] } } }]
        : []),
    ],
  };
}

/** How many references a model accepts is unknown. */
function mediaFacts({ frames, references, edit, needs }: RunwayModel): VideoFacts['media'] {
  const isTaken = (kind: RunwayModel['references'][number]) => references.includes(kind);
  return {
    frames,
    ...(isTaken('images') ? {} : { references: 0 }),
    ...(isTaken('videos') ? {} : { videos: edit === undefined ? 0 : 1 }),
    ...(isTaken('audios') ? {} : { audios: 0 }),
    ...defined({ needs: needs === 'video' ? partsOf.edit : needs === 'image' ? partsOf.image : undefined }),
  };
}

function tasksOf({ references, edit }: RunwayModel): string[] {
  return [
    ...(references.includes('videos') ? ['reference'] : []),
    ...(edit === undefined ? [] : ['edit']),
    ...(edit?.extends === true ? ['extend'] : []),
  ];
}

function editedWhen({ references }: RunwayModel): FactsCondition {
  return defined({
    brings: partsOf.edit,
    metadata: references.includes('videos') ? { video_task: 'edit' } : undefined,
  });
}

function editFacts(model: RunwayModel): PlainFacts {
  const { edit, references, shapes, wordless } = model;
  const images = edit?.images === true && references.includes('images') ? {} : { references: 0 };
  const facts: PlainFacts = {
    media: { videos: 1, audios: 0, ...images },
    prompt: { wordless: wordless.includes('edit') ? partsOf.edit : [] },
  };
  if (edit?.likeInput !== true) return facts;
  const { targets } = edit;
  const sold = usualFirst(shapes);
  return {
    ...facts,
    ...defined({ ratios: targets === undefined ? undefined : [...targets, 'adaptive'] }),
    fields: { resolution: false, duration: false, ratio: targets !== undefined },
    unsaid: {
      ...(sold.length === 0 ? {} : { resolutions: [...sold] }),
      seconds: { ...openLength(model), as_input: true },
    },
  };
}

function extension(model: RunwayModel): NonNullable<VideoFacts['cases']>[number] {
  return {
    when: { brings: partsOf.extend, metadata: { video_task: 'extend' } },
    facts: {
      ...editFacts(model),
      fields: { resolution: false, ratio: false, duration: true },
      unsaid: { resolutions: [...usualFirst(model.shapes)], seconds: openLength(model) },
    },
  };
}

/**
 * The vendor does not document what it renders if a request leaves the size or length open, so any result that the
 * model supports is possible.
 */
function shapeFacts(model: RunwayModel, operation: RunwayInputs['operation']): PlainFacts {
  const { demandsRatio } = model;
  const sold = shapesOf(model, operation);
  const resolutions = [...usualFirst(sold)];
  const words = ratiosOf(model, operation);
  const isFollowed = operation !== 'text' && !demandsRatio;
  const isOneWord = 'pairs' in sold && words === undefined;
  return {
    resolutions,
    fields: { ratio: words !== undefined },
    ...(words === undefined ? {} : { ratios: isFollowed ? [...new Set([...words, 'adaptive'])] : words }),
    ...(Object.keys(pixelsOf(model.shapes)).length === 0 ? {} : { shapes: pixelsOf(sold) }),
    unsaid: {
      ...(resolutions.length === 0
        ? {}
        : { resolutions: demandsRatio || isOneWord ? resolutions.slice(0, 1) : resolutions }),
      seconds: openLength(model),
    },
  };
}

function pixelsOf(sold: Shapes): NonNullable<VideoFacts['shapes']> {
  const rows = 'pairs' in sold ? Object.entries(sold.pairs) : [];
  return Object.fromEntries(
    rows.flatMap(([resolution, pairs]) => {
      if (typeof pairs === 'string') return [];
      const sizes = Object.entries(pairs).map(([ratio, pair]) => [ratio, pair.replace(':', 'x')] as const);
      return [[resolution, Object.fromEntries(sizes)] as const];
    }),
  );
}

function ratiosOf(model: RunwayModel, operation: RunwayInputs['operation']): string[] | undefined {
  const sold = shapesOf(model, operation);
  if (!('pairs' in sold)) {
    if (operation === 'image' && sold.ratios.length === 0) return undefined;
    return sold.ratios.filter((ratio) => ratio !== 'adaptive' || operation !== 'text');
  }
  const [first = {}] = Object.values(sold.pairs);
  return typeof first === 'string' ? undefined : Object.keys(first);
}

function namedShapes(model: RunwayModel): NonNullable<VideoFacts['cases']> {
  return (['text', 'image'] as const).flatMap((operation) => {
    const shapes = shapesOf(model, operation);
    const [resolution] = usualFirst(shapes);
    const ratio = ratiosOf(model, operation);
    if (!('pairs' in shapes) || resolution === undefined || ratio === undefined) return [];
    const when = operation === 'image' ? { brings: partsOf.image } : { lacks: partsOf.image };
    return [{ when: { ...when, ratio }, facts: { unsaid: { resolutions: [resolution] } } }];
  });
}

function lengthsOf({ seconds: { min, max, only } }: RunwayModel): VideoFacts['seconds'] {
  return only === undefined ? { min, max } : { only: [...only] };
}

function openLength({ seconds: { min, max }, demandsSeconds }: RunwayModel) {
  const unsaid = Math.max(secondsUnsaid, min);
  return demandsSeconds ? { min: unsaid, max: unsaid } : { min, max };
}

/** `others` covers models that are newer than the table. The upstream decides what they accept. */
export const runwayFacts: FactsTable = {
  origin: { source: '@runwayml/sdk 4.20.1', read: '2026-11' },
  models: runwayModels.map(([name, model, origin]) =>
    origin === undefined ? [name, factsOf(model)] : [name, factsOf(model), origin],
  ),
  // `beside_frames` is empty, because frames and references use different endpoints.
  others: {
    ...usual,
    media: { beside_frames: [] },
    unsaid: { resolutions: ['720p', '1080p'], seconds: { min: 1, max: 30 } },
  },
};
