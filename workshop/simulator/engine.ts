/** The building blocks of a vendor's table. */
export type { Call, Desk, Handler, Problems, Submission } from './desk.ts';
export { dialect } from './dialect.ts';
export type { FaultSet } from './fault.ts';
export { base64, link, media, taken, word } from './fields.ts';
export { inSeconds } from './job.ts';
export type { Job, Rendered } from './job.ts';
export { signStandardWebhook } from './standard-webhooks.ts';
export { areaOf, linesOf, pairIn, sizeOf } from './sizes.ts';
export { phaseWords } from './task.ts';
export { bearerToken, bytes, check, empty, json, pageNumber, parseJson, readForm, Refusal } from './wire.ts';
export { refusals, textsOf, WireError } from './wire.ts';
export type { Mistake, Reply, WireRequest } from './wire.ts';
