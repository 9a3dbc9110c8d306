import { defined } from '../../domain/defined.ts';
import { z } from 'zod';
import type { Caller } from '../../domain/caller.ts';
import { GatewayError } from '../../domain/errors.ts';
import { rescuableClasses } from '../../domain/rescue.ts';
import type { AskedRequest } from '../../domain/request.ts';
import { explainRoute as explain } from '../../routing/explain.ts';
import { withoutNulls } from '../body-fields.ts';
import { adminBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { imageGenerationBodySchema } from '../images/image-body.ts';
import { parseImage } from '../images/image-request.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';
import { parseInput } from '../validation.ts';
import { videoBodySchema } from '../videos/video-body.ts';
import { parseVideo } from '../videos/video-request.ts';

type Deps = Pick<RouteDeps, 'catalogue' | 'keys' | 'images' | 'checkCallbackUrl' | 'checkMediaUrl'>;

const body = z.object({
  key: z
    .string()
    .optional()
    .meta({ description: 'Public id of a key whose permissions count; absent: all.' }),
  request: z
    .looseObject({ model: z.string(), prompt: z.string().default('explained') })
    .meta({ description: 'The body of a create.' }),
});

const candidatesSchema = z.array(z.object({ channel: z.string(), credential: z.string() }));

const fallbackSchema = z
  .object({
    channels: z.array(z.string()).meta({ description: 'Those that the model names, in their order.' }),
    candidates: candidatesSchema.meta({
      description:
        'Those of them that this request could go to; empty: a failed job is its end all the same.',
    }),
    on: z.array(z.enum(rescuableClasses)).meta({ description: 'After which classes of failures.' }),
    allow_moderation: z
      .boolean()
      .meta({ description: 'Whether content that one vendor refused may go to another one.' }),
  })
  .meta({
    description:
      'Where another job is submitted when one has failed and is not billed. Absent: a failed job is the end of its task.',
  });

const routeSchema = z.object({
  candidates: candidatesSchema,
  dropped: z.array(z.object({ channel: z.string(), reason: z.string(), detail: z.string() })),
  fallback: fallbackSchema.optional(),
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
});

export function explainRoute(deps: Deps): Route {
  return adminRoute({
    operationId: 'explainRoute',
    summary: 'Explain which channels a request would try',
    description:
      'Lists the channels in the order of one draw, why the others would not be tried, and where a failed job would be replaced. Creates nothing.',
    tag: 'Operators',
    method: 'post',
    access: 'read',
    paths: ['/admin/v1/routes/explain'],
    input: z.object({ body }),
    readBody: adminBody,
    success: { description: 'Candidates, and the channels that were dropped.', schema: routeSchema },
    errors: [
      'key_not_found',
      'model_not_found',
      'model_not_allowed',
      'unsupported_parameter',
      'media_url_not_allowed',
    ],
    async handle({ body: { key, request } }) {
      const caller = await callerOf(key, deps);
      return jsonReply(explain(deps.catalogue, await parse(request, caller, deps), caller));
    },
  });
}

async function callerOf(id: string | undefined, { keys }: Deps): Promise<Caller> {
  if (id === undefined) return { account: '', key: '', assetUrls: true };
  const key = await keys.find(id);
  if (key === undefined)
    throw new GatewayError('key_not_found', 'There is no key with this id.', { param: 'key' });
  const { account, models, channels, assetUrls } = key;
  return {
    account,
    key: id,
    ...defined({ models }),
    ...defined({ channels }),
    ...defined({ assetUrls }),
  };
}

async function parse(
  request: Readonly<Record<string, unknown>> & { readonly model: string },
  caller: Caller,
  deps: Deps,
): Promise<AskedRequest> {
  const model = deps.catalogue.model(request.model, caller);
  const input = { params: {}, query: {}, body: withoutNulls(request) };
  if (model.kind === 'video')
    return parseVideo(parseInput(z.object({ body: videoBodySchema }), input).body, caller, deps).request;
  if (deps.images === undefined)
    throw new GatewayError('unsupported_parameter', 'This process does not generate images.', {
      param: 'request.model',
    });
  const image = parseInput(z.object({ body: imageGenerationBodySchema }), input).body;
  return (await parseImage(image, { ...deps, ...deps.images.limits, operation: 'generate', model })).request;
}
