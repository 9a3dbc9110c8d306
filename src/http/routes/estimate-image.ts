import { z } from 'zod';
import { chargeShape } from '../../money/charge-shape.ts';
import { defined } from '../../base/defined.ts';
import type { RouteDeps } from '../deps.ts';
import { estimatedCap } from '../estimated-cap.ts';
import { inTheirWords } from '../../intake/their-words.ts';
import { anyFields } from '../body-fields.ts';
import { documentedGenerationBody, understandImage } from '../images/image-body.ts';
import { readImage } from '../images/image-request.ts';
import { imageBody } from '../images/image-upload.ts';
import { estimateOperation, presentEstimate } from '../presenters/estimate.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

type Deps = Pick<
  RouteDeps,
  | 'holdTerms'
  | 'ledger'
  | 'catalogue'
  | 'charges'
  | 'images'
  | 'storedFiles'
  | 'checkCallbackUrl'
  | 'checkMediaUrl'
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
    input: z.object({ body: anyFields }),
    documentedBody: documentedGenerationBody(images.vendorFields),
    readBody: imageBody(images.workspaces, images.limits),
    async handle({ body, caller, meta }) {
      const asked = understandImage(body);
      const { request, ignored, plan } = await inTheirWords(asked.nameOf, async () => {
        const read = await readImage({ operation: 'generate', asked, caller }, deps);
        const { named, strict } = read;
        const buyer = await catalogue.buyer(caller);
        const made = catalogue.plan({ ...read.request, named, ...defined({ strict }) }, buyer);
        return { ...read, plan: { ...made, warnings: made.warnings.map(asked.nameOf) } };
      });
      const explainRoute = meta.header('x-explain-route') === '1';
      const { currency } = catalogue.current();
      const cap = await estimatedCap({ caller, request }, plan, deps);
      const expected = await deps.charges.expected(chargeShape(plan.model.id, plan.basis));
      const known = defined({ cap, expected });
      return jsonReply(presentEstimate(plan, { currency, ignored, explainRoute, ...known }));
    },
  });
}
