import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { json, refusals } from '../wire.ts';
import type { Refusal, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';

/** What both versions have in common: their refusals, and the challenge before a callback. */

const types: Readonly<Record<number, string>> = {
  400: 'bad_request_error',
  401: 'authorized_error',
  402: 'insufficient_balance_error',
  404: 'bad_request_error',
  422: 'unprocessable_entity_error',
  429: 'rate_limit_error',
  500: 'server_error',
  529: 'overloaded_error',
};

/** v2: the real status; the code stands in brackets at the end of the words. */
export const miniMaxError = refusals(({ status, code, message }) => {
  const text = code === '' ? message : `${message} (${code})`;
  const error = { type: types[status] ?? 'server_error', message: text, http_code: String(status) };
  return json(status, { type: 'error', error, request_id: randomUUID().replaceAll('-', '') });
});
export const invalidParams = (message: string) => miniMaxError(400, 2013, `invalid params, ${message}`);
export const noMiniMaxRoute = ({ method, path }: WireRequest) =>
  miniMaxError(404, '', `no such path: ${method} ${path}`);

export const miniMaxProblems = {
  unauthorized: miniMaxError(401, 1004, 'login fail: Please carry the API secret key'),
  forbidden: miniMaxError(401, 2049, 'invalid api key'),
  'not-found': invalidParams('invalid task_id'),
  'rate-limited': miniMaxError(429, 1002, 'rate limit exceeded'),
  'quota-exhausted': miniMaxError(402, 1008, 'insufficient balance'),
  moderated: miniMaxError(422, 1026, 'video description contains sensitive content'),
  internal: miniMaxError(500, 1000, 'unknown error'),
  unavailable: miniMaxError(529, '', 'the server cluster is currently under high load'),
} satisfies Problems;

/** v1: status 200 whatever happened. */
export function baseOf({ code, message }: Pick<Refusal, 'code' | 'message'>) {
  return { status_code: code, status_msg: message };
}
export const accepted = baseOf({ code: 0, message: 'success' });
const answerOf = refusals((refusal) => json(200, { base_resp: baseOf(refusal) }));
const hailuoError = (code: number, message: string) => answerOf(200, code, message);
export const invalidHailuo = (message: string) => hailuoError(2013, `invalid params, ${message}`);

export const hailuoProblems = {
  unauthorized: hailuoError(1004, 'login fail: Please carry the API secret key'),
  forbidden: hailuoError(2049, 'invalid api key'),
  'not-found': invalidHailuo('invalid task_id'),
  'rate-limited': hailuoError(1002, 'rate limit'),
  'quota-exhausted': hailuoError(1008, 'insufficient balance'),
  moderated: hailuoError(1026, 'input new_sensitive'),
  internal: hailuoError(1000, 'unknown error'),
  unavailable: hailuoError(1041, 'conn limit'),
} satisfies Problems;

/** What was rendered did not pass. */
export const outputModerated = hailuoError(1027, 'output new_sensitive');

const echoSchema = z.object({ challenge: z.string() });

/** The address, if it returned the challenge in time; one that does not is never called. */
export async function confirmedCallback(
  url: string | undefined,
  { parts }: World,
): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const challenge = randomUUID();
  const answer = await parts.callbacks.ask(url, JSON.stringify({ challenge }), 3000);
  return echoSchema.safeParse(answer).data?.challenge === challenge ? url : undefined;
}
