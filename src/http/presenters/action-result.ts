import { z } from 'zod';

const said = z.object({ task: z.string(), money: z.string() });

export const actionResult = z
  .union([z.object({ did: said }), z.object({ would: said, plan: z.string() })])
  .meta({
    description:
      'The effect on the task and the money. For a dry run, the effect that the action `would` have, and a `plan` to send with the action. The action is rejected if the task has changed since then.',
  });
