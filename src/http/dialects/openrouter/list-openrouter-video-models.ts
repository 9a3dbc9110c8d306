import { z } from 'zod';
import type { ModelConfig } from '../../../config/gateway-file.ts';
import { factsFor } from '../../../models/facts-of-request.ts';
import type { OfferedFacts } from '../../../models/offered-facts.ts';
import { videoShapes } from '../../../models/video-shapes.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { openrouterDialect } from './openrouter-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const words = z.array(z.string()).nullable();

/** Source: the official client (@openrouter/sdk 1.3.19, `models/videomodel.ts`). Unknown values are null. */
const modelSchema = z
  .object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.int(),
    supported_resolutions: words,
    supported_aspect_ratios: words,
    supported_sizes: words,
    supported_durations: z.array(z.int()).nullable(),
    supported_frame_images: words,
    generate_audio: z.boolean().nullable(),
    seed: z.boolean().nullable(),
    creativity: z.array(z.int()).nullable(),
    upscale_factor: z.object({}).nullable(),
    allowed_passthrough_parameters: z.array(z.string()),
  })
  .meta({ id: 'OpenrouterVideoModel' });

export function listOpenrouterVideoModels({ catalogue }: Pick<DialectDeps, 'catalogue'>): Route {
  return keyRoute({
    operationId: 'listOpenrouterVideoModels',
    scope: 'any',
    summary: 'List the video models that the key may use',
    description: 'Prices and further facts are in `GET /v1/models`.',
    dialect: openrouterDialect,
    method: 'get',
    paths: ['/api/v1/videos/models'],
    input: z.object({}),
    success: {
      description: 'All video models that the key may use.',
      schema: z.object({ data: z.array(modelSchema) }),
    },
    async handle({ caller }) {
      const models = catalogue.models(caller).filter(({ kind }) => kind === 'video');
      return jsonReply({
        data: models.map((model) => presentModel(model, catalogue.offered(model, caller).facts)),
      });
    },
  });
}

function presentModel(model: ModelConfig, facts: readonly OfferedFacts[]) {
  const { id, created, resolutions, ratios, durations, input_types } = model;
  const shapes = videoShapes(model, (pair) => facts.map((each) => factsFor({ ...pair, extra: {} }, each)));
  return {
    id,
    canonical_slug: id,
    name: id,
    created,
    supported_resolutions: orUnknown(resolutions),
    supported_aspect_ratios: orUnknown(ratios.filter((ratio) => ratio.includes(':'))),
    supported_sizes: orUnknown([...new Set(shapes.map(({ size }) => size))]),
    supported_durations: durations === undefined ? null : secondsOf(durations),
    supported_frame_images: input_types.includes('first_last_frame') ? ['first_frame', 'last_frame'] : [],
    generate_audio: takes('generate_audio', facts),
    seed: takes('seed', facts),
    creativity: null,
    upscale_factor: null,
    allowed_passthrough_parameters: [
      ...new Set(facts.flatMap(({ parameters = {} }) => Object.keys(parameters))),
    ].toSorted(),
  } satisfies z.output<typeof modelSchema>;
}

function takes(name: 'generate_audio' | 'seed', facts: readonly OfferedFacts[]): boolean | null {
  const said = facts.flatMap(({ fields }) => fields?.[name] ?? []);
  return said.length === 0 ? null : said.includes(true);
}

function orUnknown(list: readonly string[]): string[] | null {
  return list.length === 0 ? null : [...list];
}

const durationsMax = 3_600;

/** Lists only whole seconds, even if a model accepts other durations as well. */
function secondsOf({ min, max, step }: NonNullable<ModelConfig['durations']>): number[] {
  const count = Math.min(Math.floor((max - min) / step) + 1, durationsMax);
  return Array.from({ length: count }, (_, index) => min + index * step).filter(Number.isInteger);
}
