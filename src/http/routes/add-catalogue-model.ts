import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { configDraftSchema, editChanges, presentConfigDraft } from '../presenters/config-draft.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const body = z.object({
  revision: z.int().nonnegative().meta({ description: 'The revision that you have read.' }),
  model: z.string().min(1).meta({ description: 'A model of the catalogue.' }),
  channel: z.string().min(1).meta({
    description:
      'A channel in the draft, or a channel from the catalogue, which is then added with `api_key`.',
  }),
  api_key: z.string().min(1).optional().meta({
    description: 'The key for the channel’s credential `main`. Encrypted immediately and never shown.',
  }),
  base_url: z.string().min(1).optional().meta({
    description: 'Defaults to the channel’s base URL, or else to the one in the catalogue.',
  }),
  has_listed_cost: z.boolean().optional().meta({
    description:
      'Whether the upstream bills the prices that the catalogue lists. If so, sets the model’s `cost` on the channel, unless the catalogue has another cost.',
  }),
  markup_percent: z.number().min(-100).max(1000).multipleOf(0.01).optional().meta({
    description:
      'Raises the catalogue’s prices by this percentage. For example, 25 raises them by a quarter. Costs stay as listed. Rejected for a model that is already in the draft.',
  }),
});

export function addCatalogueModel({
  drafts,
  catalogueAddition,
}: Pick<RouteDeps, 'drafts' | 'catalogueAddition'>): Route {
  return settingRoute({
    operationId: 'addCatalogueModel',
    access: 'configuration',
    summary: 'Add a model from the catalogue to the draft',
    description:
      'The model gets the facts and prices from the catalogue. A model that is already in the draft keeps its own facts and prices, and gets another channel.',
    method: 'post',
    paths: ['/admin/v1/config/draft/models'],
    unrecorded: ['api_key'],
    input: z.object({ body }),
    success: { description: 'The draft as it is now.', schema: configDraftSchema },
    errors: ['action_not_possible', 'missing_parameter'],
    async handle({ body: { revision, model, channel, ...asked }, operator }) {
      const { text } = await drafts.show();
      const set = await catalogueAddition(text, {
        model,
        channel,
        apiKey: asked.api_key,
        baseUrl: asked.base_url,
        hasListedCost: asked.has_listed_cost,
        markupPercent: asked.markup_percent,
      });
      const draft = await drafts.edit({ set }, revision, operator);
      return { reply: jsonReply(presentConfigDraft(draft)), changes: editChanges(draft, revision) };
    },
  });
}
