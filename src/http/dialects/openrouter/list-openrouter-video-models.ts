import { z } from 'zod';
import type { ModelConfig } from '../../../config/gateway-file.ts';
import { jsonReply, keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import { openrouterDialect } from './openrouter-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const words = z.array(z.string()).nullable();

/** As the official client types it (@openrouter/sdk 1.3.19, `models/videomodel.ts`). Null: it is not known. */
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
    success: { description: 'All of them.', schema: z.object({ data: z.array(modelSchema) }) },
    async handle({ caller }) {
      const data = catalogue.models(caller).filter(({ kind }) => kind === 'video');
      return jsonReply({ data: data.map(presentModel) });
    },
  });
}

function presentModel({ id, created, resolutions, ratios, durations, input_types }: ModelConfig) {
  return {
    id,
    canonical_slug: id,
    name: id,
    created,
    supported_resolutions: orUnknown(resolutions),
    supported_aspect_ratios: orUnknown(ratios),
    supported_sizes: null,
    supported_durations: durations === undefined ? null : secondsOf(durations),
    supported_frame_images: input_types.includes('first_last_frame') ? ['first_frame', 'last_frame'] : [],
    generate_audio: null,
    seed: null,
    creativity: null,
    upscale_factor: null,
    allowed_passthrough_parameters: [],
  } satisfies z.output<typeof modelSchema>;
}

function orUnknown(list: readonly string[]): string[] | null {
  return list.length === 0 ? null : [...list];
}

const durationsMax = 3_600;

/** Whole ones; a model may have others, too. */
function secondsOf({ min, max, step }: NonNullable<ModelConfig['durations']>): number[] {
  const count = Math.min(Math.floor((max - min) / step) + 1, durationsMax);
  return Array.from({ length: count }, (_, index) => min + index * step).filter(Number.isInteger);
}
