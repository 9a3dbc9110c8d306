import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { etaOf, renderedOutput } from '../../models/render-times.ts';
import { jsonBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { estimateOperation, presentEstimate } from '../presenters/estimate.ts';
import { jsonReply, keyRoute } from '../route.ts';
import type { Route } from '../route.ts';
import { estimatedCap } from '../estimated-cap.ts';
import { videoBodySchema, videoFieldNames } from '../videos/video-body.ts';
import { parseVideo } from '../videos/video-request.ts';

type Deps = Pick<
  RouteDeps,
  'holdTerms' | 'ledger' | 'catalogue' | 'renders' | 'checkCallbackUrl' | 'checkMediaUrl'
>;

export function estimateVideo(deps: Deps): Route {
  return keyRoute({
    ...estimateOperation,
    operationId: 'estimateVideo',
    scope: 'create',
    summary: 'Estimate the cost of a video',
    tag: 'Videos',
    paths: ['/v1/videos/generations/estimate', '/v1/video/generations/estimate'],
    input: z.object({ body: videoBodySchema }),
    readBody: jsonBody,
    async handle({ body, caller, meta }) {
      const { request, ignored } = parseVideo(body, caller, deps);
      const plan = await deps.catalogue.planMeasured(request, caller);
      const channel = plan.candidates[0]?.channel ?? '';
      const kind = { channel, model: plan.model.id, output: renderedOutput(plan.request) };
      return jsonReply(
        presentEstimate(plan, {
          currency: deps.catalogue.current().currency,
          ignored: [...meta.unknownFields(videoFieldNames), ...ignored],
          ...defined({
            eta: etaOf(deps.renders.times(kind), 0),
            cap: await estimatedCap({ caller, request }, plan, deps),
          }),
          explainRoute: meta.header('x-explain-route') === '1',
        }),
      );
    },
  });
}
