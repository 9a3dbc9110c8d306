import { defined } from '../../base/defined.ts';
import { everyField, type ParameterFacts, type VideoFacts } from '../../models/model-facts.ts';
import { arkRetired } from './ark-retired.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { seedanceFamilies, type SeedanceFamily } from '../shared/seedance-models.ts';
import {
  draftResolution,
  seedanceShapes,
  usualResolutions,
  usualSeconds,
} from '../shared/seedance-pricing.ts';

/** Valid frame counts have the form 25 + 4n. */
export const frameCounts = { min: 29, max: 289 };

type Cases = NonNullable<VideoFacts['cases']>;

const countedCases: Cases = [
  { when: { metadata: { frames: 'any' } }, facts: { fields: { duration: false } } },
];

const taskField = 'omni_reference_task_type';

/**
 * Unless the request sets another task, a video is used as a reference. Some model families would guess a task if none
 * were sent.
 */
function videoCases({ references, keepsShape }: SeedanceFamily): Cases {
  if (references.videos === 0) return [];
  const task: ParameterFacts = keepsShape
    ? { values: ['reference', 'edit', 'extend'], sent_as: taskField }
    : { values: ['reference'], read: true };
  return [{ when: { brings: ['videos'] }, facts: { parameters: { video_task: task } } }];
}

const draftCases: Cases = [
  {
    when: { draft: true },
    facts: {
      resolutions: [draftResolution],
      fields: { return_last_frame: false },
      parameters: { service_tier: { values: ['default'] } },
      unsaid: { resolutions: [draftResolution] },
    },
  },
];

const usual: VideoFacts = {
  addresses: { videos: ['http', 'https', 'asset'] },
  fields: { ...everyField, mode: false },
  // These fields determine what is rendered and billed, who receives callbacks, and how a lost job is found.
  reserved: [
    'model',
    'content',
    'callback_url',
    'execution_expires_after',
    'safety_identifier',
    'resolution',
    'ratio',
    'duration',
    'seed',
    'watermark',
    'generate_audio',
    'draft',
    'return_last_frame',
    'tools',
  ],
  parameters: { video_task: { sent_as: taskField }, [taskField]: { values: [] } },
  other_parameters: true,
  unsaid: { resolutions: [...usualResolutions], seconds: { min: usualSeconds, max: usualSeconds } },
};

function factsOf(family: SeedanceFamily): VideoFacts {
  const { frames, references, audioAlone, resolutions, durations, draft, tools, flex } = family;
  return {
    ...usual,
    media: {
      frames,
      references: references.images,
      videos: references.videos,
      audios: references.audios,
      ...(audioAlone ? {} : { accompanied: ['audios'] }),
    },
    resolutions: [...resolutions],
    ...defined({ shapes: seedanceShapes(family) }),
    seconds: durations,
    sound: family.generatesAudio ? 'choice' : 'never',
    fields: { ...usual.fields, draft, tools },
    parameters: {
      ...usual.parameters,
      video_task: { values: [], read: true },
      service_tier: { values: flex ? ['default', 'flex'] : ['default'] },
      frames: family.frameCount ? { type: 'integer', ...frameCounts } : { values: [] },
    },
    cases: [
      ...countedCases,
      ...videoCases(family),
      ...referenceCases(family),
      ...(family.keepsShape ? shapeCases(durations) : []),
      ...(draft ? draftCases : []),
    ],
  };
}

function referenceCases({ resolutions, referencesExclude }: SeedanceFamily): Cases {
  if (referencesExclude.length === 0) return [];
  const others = resolutions.filter((name) => !referencesExclude.includes(name));
  return [{ when: { brings: ['references'] }, facts: { resolutions: others } }];
}

/** Without `video_task`, the upstream would guess whether to edit a video or use it only as a reference. */
function shapeCases({ min, max }: SeedanceFamily['durations']): Cases {
  const like = { ratios: ['adaptive'] };
  const task = (name: string) => ({
    brings: ['videos' as const],
    metadata: { video_task: name },
  });
  return [
    { when: { brings: ['first_frame'] }, facts: like },
    { when: task('extend'), facts: like },
    // The result is as long as the input video.
    {
      when: task('edit'),
      facts: {
        ...like,
        seconds: { only: [], auto: true },
        unsaid: { seconds: { min, max, as_input: true } },
      },
    },
  ];
}

/**
 * `others` covers private endpoints (`ep-…`) and models that are newer than the table. The upstream decides what they
 * accept.
 */
export const arkFacts: FactsTable = {
  origin: { source: 'the vendor’s parameter tables', read: '2026-11' },
  retired: arkRetired([/^seedance-1-0-lite-/, '2026-05-13']),
  models: seedanceFamilies.map(([name, family]) => [name, factsOf(family)]),
  others: { ...usual, cases: countedCases },
};
