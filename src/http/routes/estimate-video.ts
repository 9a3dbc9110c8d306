import { z } from 'zod';
import { chargeShape } from '../../money/charge-shape.ts';
import { defined } from '../../base/defined.ts';
import { etaOf, renderedOutput } from '../../models/render-times.ts';
import { jsonBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { estimateOperation, presentEstimate } from '../presenters/estimate.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';
import { estimatedCap } from '../estimated-cap.ts';
import { anyFields } from '../body-fields.ts';
import { inTheirWords } from '../../intake/their-words.ts';
import { understandVideo, videoBodySchema } from '../videos/video-body.ts';
import { readVideo } from '../videos/video-request.ts';

type Deps = Pick<
  RouteDeps,
  'holdTerms' | 'ledger' | 'catalogue' | 'charges' | 'renders' | 'checkCallbackUrl' | 'checkMediaUrl'
>;

export function estimateVideo(deps: Deps): Route {
  return keyRoute({
    ...estimateOperation,
    operationId: 'estimateVideo',
    scope: 'create',
    summary: 'Estimate the cost of a video',
    tag: 'Videos',
    paths: ['/v1/videos/generations/estimate', '/v1/video/generations/estimate'],
    input: z.object({ body: anyFields }),
    documentedBody: videoBodySchema,
    readBody: jsonBody,
    async handle({ body, caller, meta }) {
      const asked = understandVideo(body);
      const { request, ignored, plan } = await inTheirWords(asked.nameOf, async () => {
        const read = readVideo(asked, caller, deps);
        const plan = await deps.catalogue.planMeasured(read.request, await deps.catalogue.buyer(caller));
        return { ...read, plan: { ...plan, warnings: plan.warnings.map(asked.nameOf) } };
      });
      const channel = plan.candidates[0]?.channel ?? '';
      const kind = { channel, model: plan.model.id, output: renderedOutput(plan.request) };
      return jsonReply(
        presentEstimate(plan, {
          currency: deps.catalogue.current().currency,
          ignored,
          ...defined({
            eta: etaOf(deps.renders.times(kind), 0),
            expected: await deps.charges.expected(chargeShape(plan.model.id, plan.basis)),
            cap: await estimatedCap({ caller, request }, plan, deps),
          }),
          explainRoute: meta.header('x-explain-route') === '1',
        }),
      );
    },
  });
}
