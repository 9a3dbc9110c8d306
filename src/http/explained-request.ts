import { z } from 'zod';
import type { Buyer, Caller } from '../access/caller.ts';
import { defined } from '../base/defined.ts';
import type { AskedRequest } from '../models/request.ts';
import { findKey } from './admin-input.ts';
import type { RouteDeps } from './deps.ts';
import { understandImage } from './images/image-body.ts';
import { readImage } from './images/image-request.ts';
import { inTheirWords } from '../intake/their-words.ts';
import { understandVideo } from './videos/video-body.ts';
import { readVideo } from './videos/video-request.ts';

export const explainedBodySchema = z.object({
  key: z.string().optional().meta({
    description: 'The public id of the key whose permissions apply. Defaults to a key without restrictions.',
  }),
  request: z
    .looseObject({ model: z.string(), prompt: z.string().default('explained') })
    .meta({ description: 'The body of a create request.' }),
});

export const explainErrors = [
  'key_not_found',
  'model_not_found',
  'key_not_allowed',
  'model_not_allowed',
  'unsupported_parameter',
  'media_url_not_allowed',
] as const;

export type ExplainedDeps = Pick<
  RouteDeps,
  'catalogue' | 'keys' | 'images' | 'storedFiles' | 'checkCallbackUrl' | 'checkMediaUrl'
>;

export interface ExplainedRequest {
  readonly request: AskedRequest;
  readonly buyer: Buyer;
}

export async function parseExplained(
  { key, request }: z.output<typeof explainedBodySchema>,
  deps: ExplainedDeps,
): Promise<ExplainedRequest> {
  const caller = await callerOf(key, deps);
  return { request: await parse(request, caller, deps), buyer: await deps.catalogue.buyer(caller) };
}

async function callerOf(id: string | undefined, { keys }: ExplainedDeps): Promise<Caller> {
  if (id === undefined) return { account: '', key: '', assetUrls: true };
  const { account, models, channels, assetUrls, secondsMax, resolutionMax } = await findKey(keys, id);
  return { account, key: id, ...defined({ models, channels, assetUrls, secondsMax, resolutionMax }) };
}

async function parse(
  request: Readonly<Record<string, unknown>> & { readonly model: string },
  caller: Caller,
  deps: ExplainedDeps,
): Promise<AskedRequest> {
  const model = deps.catalogue.model(request.model, caller);
  if (model.kind === 'video') {
    const asked = understandVideo(request);
    return inTheirWords(asked.nameOf, async () => readVideo(asked, caller, deps).request);
  }
  const asked = understandImage(request);
  return inTheirWords(asked.nameOf, async () => {
    const read = await readImage({ operation: 'generate', asked, caller }, deps);
    return read.request;
  });
}
