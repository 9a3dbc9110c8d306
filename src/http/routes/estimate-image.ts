import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { RouteDeps } from '../deps.ts';
import { estimatedCap } from '../estimated-cap.ts';
import { documentedGenerationBody, imageGenerationBodySchema } from '../images/image-body.ts';
import { parseImage } from '../images/image-request.ts';
import { imageBody } from '../images/image-upload.ts';
import { estimateOperation, presentEstimate } from '../presenters/estimate.ts';
import { jsonReply, keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<
  RouteDeps,
  'holdTerms' | 'ledger' | 'catalogue' | 'images' | 'storedFiles' | 'checkCallbackUrl' | 'checkMediaUrl'
>;

export function estimateImage(deps: Deps): Route {
  const { catalogue, images } = deps;
  return keyRoute({
    ...estimateOperation,
    operationId: 'estimateImage',
    scope: 'create',
    summary: 'Estimate the cost of images',
    tag: 'Images',
    paths: ['/v1/images/generations/estimate'],
    input: z.object({ body: imageGenerationBodySchema }),
    documentedBody: documentedGenerationBody(images.vendorFields),
    readBody: imageBody(images.workspaces, images.limits),
    async handle({ body, caller, meta }) {
      const model = catalogue.model(body.model, caller);
      const rules = { ...deps, ...images.limits, operation: 'generate' as const, model, caller };
      const { request, named, ignored } = await parseImage(body, rules);
      const plan = catalogue.plan({ ...request, named }, caller);
      const explainRoute = meta.header('x-explain-route') === '1';
      const { currency } = catalogue.current();
      const cap = await estimatedCap({ caller, request }, plan, deps);
      return jsonReply(presentEstimate(plan, { currency, ignored, explainRoute, ...defined({ cap }) }));
    },
  });
}
