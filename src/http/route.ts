import { Readable } from 'node:stream';
import type { z } from 'zod';
import type { BodyReader } from './bodies/consume-body.ts';
import { changedBy, seenBy } from '../base/key-scope.ts';
import type { KeyHolder } from '../access/caller.ts';
import type { NeededScope, Reach } from '../base/key-scope.ts';
import type { ClientTry } from '../commands/repeats.ts';
import type { ErrorCode } from '../errors/errors.ts';
import { mayUse } from '../base/operator.ts';
import type { OperatorAccess, OperatorIdentity } from '../base/operator.ts';
import type { Dialect } from './dialects/dialect.ts';
import { adminBody } from './body.ts';
import { etagOf, matchesEtag } from './etag.ts';
import { operatorActOf } from './operator-act.ts';
import type { ActFacts } from './operator-act.ts';
import { parseInput } from './validation.ts';
import type { RawInput } from './validation.ts';

/**
 * One operation of the service: its declaration. Validation, types and the OpenAPI document derive from it. Made by
 * `keyRoute`, `adminRoute` and `openRoute`, which differ in what the handler learns about the caller.
 */
export type Route = Runnable & Permission;

/** Who may use a route. The document, the lists and every refusal read it from here. */
export type Permission =
  | { readonly authentication: 'key'; readonly scope: NeededScope }
  | { readonly authentication: 'admin'; readonly access: Access }
  | { readonly authentication: 'none' };

/**
 * A list of roles admits an operator with any one of them; the handler then checks the role that the request needs.
 */
export type Access = OperatorAccess | readonly OperatorAccess[];

interface Runnable extends Operation {
  readonly input: InputSchema;
  /** Of a route that `secretRoute` has made; before the body is read. Throws GatewayError. */
  readonly admit?: (request: RawRequest) => Promise<Admitted>;
  /** Validates and handles. Throws GatewayError. */
  run(request: RawRequest, identity: Identity): Promise<Reply>;
}

/** `account`: on whose budget the body goes. `run`: instead of the route's own. */
interface Admitted extends Pick<Runnable, 'run'> {
  readonly account: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Absent: that of its dialect. */
  readonly tag?: 'Videos' | 'Images' | 'Files' | 'Models' | 'Account' | 'Service' | 'Operators';
  /** Absent: the interface is our own. */
  readonly dialect?: Dialect;
  readonly method: 'get' | 'post' | 'put' | 'delete' | 'options';
  /** The first is the preferred spelling; the others are the same route. Parameters as `:name`. */
  readonly paths: readonly [string, ...string[]];
  /** Of the addresses that its paths match, those that are its; the others are unknown. Absent: all. */
  readonly only?: RegExp;
  /** Absent: the route does not accept a body, and one that is sent is not read. */
  readonly readBody?: BodyReader;
  /** Where the document says another body than `input`: what clients should send, of what the service bears with. */
  readonly documentedBody?: z.ZodType;
  /** Whether the request's URL is itself a valid credential. Undefined: it never is. */
  readonly isSigned?: (request: RawRequest) => boolean;
  /** For the document; the handler reads them from `meta`. */
  readonly headers?: z.ZodObject;
  /** What would hold the event loop at the first request: done before the process listens. */
  readonly prepare?: () => void;
  readonly success: Success;
  /** Responses with other statuses that are not errors with the common body. */
  readonly otherAnswers?: Readonly<Record<number, Success>>;
  /** Beside those that its authentication, its body and every route imply. */
  readonly errors?: readonly ErrorCode[];
  /** Where a code has another status than usual. */
  readonly statuses?: Readonly<Partial<Record<ErrorCode, number>>>;
}

/** Which parts of a request the route reads. Unknown fields are ignored. */
export type InputSchema = z.ZodObject<{
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}>;

export interface Success {
  /** Default 200. */
  readonly status?: number;
  readonly description: string;
  /** Absent: the answer is not JSON of ours. */
  readonly schema?: z.ZodType;
  /** The schema of each event's data, if the answer may be a stream. */
  readonly event?: z.ZodType;
  /** Several: any of them. `none`: no body. */
  readonly mediaType?: string | readonly string[];
}

export interface RawRequest extends RawInput {
  readonly meta: RequestMeta;
}

export interface RequestMeta {
  readonly id: string;
  /** The request has made this task, or found it: for its line in the log. */
  concerns(task: string): void;
  /** As it was sent, without the query. */
  readonly path: string;
  /** GET without a body: the route itself does not know the difference. */
  readonly isHead: boolean;
  /** For what the request brings about; absent: no trace. */
  readonly traceparent: string | undefined;
  /** Lower-case name. */
  header(name: string): string | undefined;
  /** How the client sends it, for a create that recognises repeats. */
  clientTry(): ClientTry;
  /** Aborted when the caller disconnects. Created on first use. */
  closed(): AbortSignal;
  /** Reserves memory until the answer, for what the request makes of its body. Throws as `BodyAllowance.reserve`. */
  reserve(bytes: number): void;
  /** As `BodyAllowance.requireRoom`. */
  requireRoom(bytes: number): void;
}

export type Identity =
  | { readonly kind: 'key'; readonly caller: KeyHolder }
  | ({ readonly kind: 'admin'; readonly keep: KeepAct } & Operating)
  | { readonly kind: 'none' };

/** Who uses a route of the operators' API. */
interface Operating {
  /** The name that belongs to the token. */
  readonly operator: string;
  readonly roles: OperatorIdentity['roles'];
}

/** Runs an operator's act with its entry in the audit log. */
export type KeepAct = (act: ActFacts, run: () => Promise<Reply>) => Promise<Reply>;

/** Asked every few seconds by whoever watches the process, and never refused. By operation, or by path. */
export function isProbe(name: string): boolean {
  return /^\/?(?:healthz|readyz)$/.test(name);
}

/** Whether an operator with these roles may use a route with this access. */
export function letsIn(access: Access, operator: Pick<OperatorIdentity, 'roles'>): boolean {
  return [access].flat().some((one) => mayUse(operator, one));
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  /**
   * Absent: empty. Parts, in order: too large to be one string. The length of a stream, where it is known, is
   * `content-length` among the headers.
   */
  readonly body?: string | Buffer | Readable | readonly BodyPart[];
  /** Called when the response is completely written, or the caller has disconnected before. */
  readonly onEnd?: () => void;
}

export type BodyPart = string | Uint8Array;

const jsonMediaType = 'application/json; charset=utf-8';

export interface TextReply extends Reply {
  readonly body: string;
}

export function jsonReply(body: unknown, headers: Readonly<Record<string, string>> = {}): TextReply {
  return { status: 200, headers, mediaType: jsonMediaType, body: JSON.stringify(body) };
}

/** A JSON text, written already. */
export function partsReply(
  body: Buffer | readonly BodyPart[],
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status: 200, headers, mediaType: jsonMediaType, body };
}

/** What is made while it is sent, and no more than the caller takes. */
export function madeWhileSent(
  parts: AsyncIterable<string>,
  about: Pick<Reply, 'headers' | 'mediaType' | 'onEnd'>,
): Reply {
  return { ...about, status: 200, body: Readable.from(parts, { objectMode: false, highWaterMark: 1 }) };
}

/** 304: the caller has this version already. */
export function notModified(headers: Readonly<Record<string, string>>): Reply {
  return { status: 304, headers, mediaType: jsonMediaType };
}

type Handler<Input extends InputSchema, Who> = (
  input: z.output<Input> & { readonly meta: RequestMeta } & Who,
) => Reply | Promise<Reply>;

interface Handling<Input extends InputSchema, Who> {
  readonly input: Input;
  readonly handle: Handler<Input, Who>;
}

type Declaration<Input extends InputSchema, Who> = Operation & Handling<Input, Who>;

/**
 * Declares a route for API keys. `reach` is what the key may see or, unless the scope is a reading one, what it may
 * change.
 */
export function keyRoute<Input extends InputSchema>(
  declaration: Declaration<Input, { readonly caller: KeyHolder; readonly reach: Reach }> & {
    readonly scope: NeededScope;
  },
): Route {
  const { handle, ...operation } = declaration;
  const reachOf = operation.scope.startsWith('read') ? seenBy : changedBy;
  return {
    ...operation,
    authentication: 'key',
    async run(request, identity) {
      if (identity.kind !== 'key') throw new TypeError(`${operation.operationId} needs an API key`);
      const input = parseInput(operation.input, request);
      const { caller } = identity;
      return handle({ ...input, meta: request.meta, caller, reach: reachOf(caller) });
    },
  };
}

interface Operated {
  readonly access: Access;
  /** Fields of the body that the audit log must not record. `all` is for routes that change nothing. */
  readonly unrecorded?: 'all' | readonly string[];
}

/** A route of the operators' API, which exists only if ADMIN_TOKEN is set. Its body is small JSON by default. */
export function adminRoute<Input extends InputSchema>(
  declaration: Omit<Operation, 'tag'> & Handling<Input, Operating> & Operated,
): Route {
  const { handle, unrecorded = [], ...operation } = declaration;
  const isAct = operation.access !== 'read' && unrecorded !== 'all';
  const hidden = unrecorded === 'all' ? [] : unrecorded;
  return {
    ...(operation.input.shape.body === undefined ? {} : { readBody: adminBody }),
    ...operation,
    tag: 'Operators',
    authentication: 'admin',
    async run(request, identity) {
      if (identity.kind !== 'admin')
        throw new TypeError(`${operation.operationId} needs an operator's token`);
      const input = parseInput(operation.input, request);
      const { operator, roles, keep } = identity;
      const run = async () => handle({ ...input, meta: request.meta, operator, roles });
      const act = isAct ? operatorActOf(operation.operationId, input, hidden) : undefined;
      if (act !== undefined) return keep(act, run);
      return operation.method === 'get' ? withVersion(await run(), request.meta) : run();
    },
  };
}

/** Whoever repeats a read with the version that it has is spared an unchanged body. */
function withVersion(reply: Reply, meta: RequestMeta): Reply {
  const { status, headers, body } = reply;
  if (status !== 200 || typeof body !== 'string') return reply;
  const versioned = { ...headers, etag: etagOf(body), 'cache-control': 'private, no-cache' };
  return matchesEtag(meta.header('if-none-match'), versioned.etag)
    ? notModified(versioned)
    : { ...reply, headers: versioned };
}

/** A route that anybody may call. */
export function openRoute<Input extends InputSchema>(
  declaration: Declaration<Input, Readonly<Record<never, never>>>,
): Route {
  const { handle, ...operation } = declaration;
  return {
    ...operation,
    authentication: 'none',
    async run(request) {
      return handle({ ...parseInput(operation.input, request), meta: request.meta });
    },
  };
}

/** A route whose address is its secret: `admit` says whose it is, before the body is read. Throws GatewayError. */
export function secretRoute<Input extends InputSchema, Guest extends { readonly account: string }>(
  declaration: Declaration<Input, { readonly guest: Guest }> & {
    readonly admit: (params: z.output<Input>['params']) => Promise<Guest>;
  },
): Route {
  const { handle, admit, ...operation } = declaration;
  return {
    ...operation,
    authentication: 'none',
    async admit(request) {
      const guest = await admit(parseInput(operation.input, request).params);
      return {
        account: guest.account,
        run: async (whole) => handle({ ...parseInput(operation.input, whole), meta: whole.meta, guest }),
      };
    },
    run: () => Promise.reject(new TypeError(`${operation.operationId} admits before it handles`)),
  };
}
