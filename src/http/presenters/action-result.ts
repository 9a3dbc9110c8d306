import { z } from 'zod';

const said = z.object({ task: z.string(), money: z.string() });

export const actionResult = z.union([z.object({ did: said }), z.object({ would: said })]).meta({
  description: 'What was done to the task and the money; `would`, with `dry_run`: what would be.',
});
