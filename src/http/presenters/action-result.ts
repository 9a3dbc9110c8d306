import { z } from 'zod';

const said = z.object({ task: z.string(), money: z.string() });

export const actionResult = z
  .union([z.object({ did: said }), z.object({ would: said, plan: z.string() })])
  .meta({
    description:
      'What was done to the task and the money. With `dry_run`: what `would` be done, and a `plan`. The act names it, and is done only while the task is as it was shown.',
  });
