import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { World } from '../world.ts';

const echoSchema = z.object({ challenge: z.string() });
const answerMsMax = 3_000;

/** The address, if it returned the challenge in time; one that does not is never called. */
export async function confirmedCallback(
  url: string | undefined,
  { parts }: World,
): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const challenge = randomUUID();
  const answer = await parts.callbacks.ask(url, JSON.stringify({ challenge }), answerMsMax);
  return echoSchema.safeParse(answer).data?.challenge === challenge ? url : undefined;
}
