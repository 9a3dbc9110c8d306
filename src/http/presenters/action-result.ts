import { z } from 'zod';

const said = z.object({ task: z.string(), money: z.string() });

export const actionResult = z
  .union([z.object({ did: said }), z.object({ would: said, plan: z.string() })])
  .meta({
    description:
      'What was done to the task and the money. With `dry_run`: what `would` be done, and a `plan`. Send the plan with the act, which is refused if the task has changed since.',
  });
