import type { ConfigChange } from '../base/config-change.ts';
import type { NoteChanges } from '../commands/audit-log.ts';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import type { BodyReader } from './bodies/consume-body.ts';
import { changedBy, seenBy, type NeededScope, type Reach } from '../base/key-scope.ts';
import type { KeyHolder } from '../access/caller.ts';
import type { ClientTry } from '../commands/repeats.ts';
import type { ErrorCode } from '../errors/errors.ts';
import { isReading, mayUse, type OperatorAccess, type OperatorIdentity } from '../base/operator.ts';
import type { Dialect } from './dialects/dialect.ts';
import { adminBody } from './body.ts';
import { etagOf, matchesEtag } from './etag.ts';
import { hideAmounts } from './without-amounts.ts';
import { operatorActOf, type ActFacts } from './operator-act.ts';
import { refuseUnknownFields } from './unknown-fields.ts';
import { parseInput, type RawInput } from './validation.ts';

/**
 * Validation, types and the OpenAPI document are derived from this declaration. `keyRoute`, `adminRoute`,
 * `settingRoute`, `openRoute` and `secretRoute` create routes, and differ in what the handler learns about the caller.
 */
export type Route = Runnable & Permission;

/** The OpenAPI document, route lists and error messages are derived from this. */
export type Permission =
  | { readonly authentication: 'key'; readonly scope: NeededScope }
  | { readonly authentication: 'admin'; readonly access: Access; readonly act: ActKind }
  | { readonly authentication: 'none' };

/** `setting` replaces stored values and records the changes. `none` only reads or tests. */
type ActKind = 'setting' | 'other' | 'none';

/**
 * A list admits operators who have any of these roles. The handler then checks for the role that the request requires.
 */
export type Access = OperatorAccess | readonly OperatorAccess[];

interface Runnable extends Operation {
  readonly input: InputSchema;
  /** Set by `secretRoute`. Runs before the body is read. Throws GatewayError. */
  readonly admit?: (request: RawRequest) => Promise<Admitted>;
  run(request: RawRequest, identity: Identity): Promise<Reply>;
}

/** The request's body uses the budget of `account`. `run` replaces the route's own. */
interface Admitted extends Pick<Runnable, 'run'> {
  readonly account: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag?: 'Videos' | 'Images' | 'Files' | 'Models' | 'Account' | 'Service' | 'Operators';
  readonly dialect?: Dialect;
  readonly method: 'get' | 'post' | 'put' | 'delete' | 'options';
  readonly paths: readonly [string, ...string[]];
  /** Any path that does not match is unknown, even if `paths` matches it. */
  readonly only?: RegExp;
  /** If undefined, the route has no body and ignores any body that is sent. */
  readonly readBody?: BodyReader;
  /** The body that clients should send, if the route accepts more than that. Defaults to `input`. */
  readonly documentedBody?: z.ZodType;
  /**
   * Routes that read many documents take turns (read-in-turn.ts). Defaults to `many` for a GET with a credential, and
   * to `one` for any other route.
   */
  readonly reads?: 'one' | 'many';
  readonly isSigned?: (request: RawRequest) => boolean;
  /** Used only for the documentation. The handler reads the headers from `meta`. */
  readonly headers?: z.ZodObject;
  /**
   * Called before the process listens, for work that would otherwise block the event loop later. Long work must run in
   * steps.
   */
  readonly prepare?: () => void;
  readonly success: Success;
  /** Responses whose status and body differ from the common ones. */
  readonly otherAnswers?: Readonly<Record<number, Success>>;
  /** Codes in addition to those that every route has and those that follow from its authentication and body. */
  readonly errors?: readonly ErrorCode[];
  readonly statuses?: Readonly<Partial<Record<ErrorCode, number>>>;
}

/** Unknown fields are ignored, except by the operators' API. */
export type InputSchema = z.ZodObject<{
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}>;

export interface Success {
  readonly status?: number;
  readonly description: string;
  /** Undefined if the response is not our own JSON. */
  readonly schema?: z.ZodType;
  readonly event?: z.ZodType;
  readonly mediaType?: string | readonly string[];
}

export interface RawRequest extends RawInput {
  readonly meta: RequestMeta;
}

export interface RequestMeta {
  readonly id: string;
  concerns(task: string): void;
  readonly path: string;
  readonly address: string;
  /** The response must have no body. Apart from that, the request is handled like a GET. */
  readonly isHead: boolean;
  readonly traceparent: string | undefined;
  /** @param name - In lower case. */
  header(name: string): string | undefined;
  clientTry(): ClientTry;
  /** Aborts when the caller disconnects. The signal is created on first use. */
  closed(): AbortSignal;
  /** Reserves memory for data derived from the body, until the response has been sent. Throws GatewayError. */
  reserve(bytes: number): void;
  requireRoom(bytes: number): void;
}

export type Identity =
  | { readonly kind: 'key'; readonly caller: KeyHolder }
  | ({ readonly kind: 'admin'; readonly keep: KeepAct } & Operating)
  | { readonly kind: 'none' };

interface Operating {
  readonly operator: string;
  readonly roles: OperatorIdentity['roles'];
  readonly session?: string;
}

export type KeepAct = (act: ActFacts, run: (note: NoteChanges) => Promise<Reply>) => Promise<Reply>;

/** Accepts the name or path of a health check. Monitoring calls health checks often, and they are never rejected. */
export function isProbe(name: string): boolean {
  return /^\/?(?:healthz|readyz)$/.test(name);
}

export function letsIn(access: Access, operator: Pick<OperatorIdentity, 'roles'>): boolean {
  return [access].flat().some((one) => mayUse(operator, one));
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  /**
   * Undefined if the body is empty. A body that is too large for one string is a list of parts, in order. If a stream's
   * length is known, it is in the `content-length` header.
   */
  readonly body?: string | Buffer | Readable | Made | readonly BodyPart[];
  readonly onEnd?: () => void;
}

export type BodyPart = string | Uint8Array;

/** A body that is produced while it is sent, no faster than the caller reads. */
export interface Made {
  [Symbol.asyncIterator](): AsyncIterator<string>;
}

export function isMade(body: Reply['body']): body is Made {
  return typeof body === 'object' && Symbol.asyncIterator in body && !(body instanceof Readable);
}

const jsonMediaType = 'application/json; charset=utf-8';

export interface TextReply extends Reply {
  readonly body: string;
}

export function jsonReply(body: unknown, headers: Readonly<Record<string, string>> = {}): TextReply {
  return { status: 200, headers, mediaType: jsonMediaType, body: JSON.stringify(body) };
}

export function partsReply(
  body: Buffer | readonly BodyPart[],
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status: 200, headers, mediaType: jsonMediaType, body };
}

export function madeWhileSent(
  body: AsyncIterable<string>,
  about: Pick<Reply, 'headers' | 'mediaType' | 'onEnd'>,
): Reply {
  return { ...about, status: 200, body };
}

export function notModified(headers: Readonly<Record<string, string>>): Reply {
  return { status: 304, headers, mediaType: jsonMediaType };
}

type Handled<Input extends InputSchema, Who> = z.output<Input> & { readonly meta: RequestMeta } & Who;

type Handler<Input extends InputSchema, Who> = (input: Handled<Input, Who>) => Reply | Promise<Reply>;

interface Handling<Input extends InputSchema, Who> {
  readonly input: Input;
  readonly handle: Handler<Input, Who>;
}

type Declaration<Input extends InputSchema, Who> = Operation & Handling<Input, Who>;

/** Creates a route for API keys. `reach` is what the key may see or, if the scope allows changes, may change. */
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

interface Noting {
  readonly note: NoteChanges;
}

interface Operated {
  readonly access: Access;
  /**
   * Set if the response contains only configured prices or the caller's own text, so that no amounts need to be hidden.
   */
  readonly isShownWhole?: true;
  /** Any operator may perform the action, which is recorded although its `access` is `read`. */
  readonly isAct?: true;
  /** Body fields that must not appear in the audit log. Use `all` for routes that change nothing. */
  readonly unrecorded?: 'all' | readonly string[];
}

type AdminOperation = Omit<Operation, 'tag'> & Operated;

/**
 * Creates a route of the operators' API, which exists only if ADMIN_TOKEN is set. By default, the body is small JSON.
 */
export function adminRoute<Input extends InputSchema>(
  declaration: AdminOperation & Handling<Input, Operating>,
): Route {
  return operatedRoute(declaration, 'other');
}

export interface Changed {
  readonly reply: Reply;
  readonly changes: readonly ConfigChange[];
}

/**
 * Creates a route for an operator's action that replaces stored values. The handler returns the changes for the audit
 * log.
 */
export function settingRoute<Input extends InputSchema>(
  declaration: AdminOperation & {
    readonly input: Input;
    readonly handle: (input: Handled<Input, Operating>) => Promise<Changed>;
  },
): Route {
  const { handle, ...operation } = declaration;
  const handleAndNote = async (input: Handled<Input, Operating & Noting>) => {
    const { reply, changes } = await handle(input);
    input.note(changes);
    return reply;
  };
  return operatedRoute({ ...operation, handle: handleAndNote }, 'setting');
}

function operatedRoute<Input extends InputSchema>(
  declaration: AdminOperation & Handling<Input, Operating & Noting>,
  kind: ActKind,
): Route {
  const {
    handle,
    unrecorded = [],
    isAct: isOwnAct = false,
    isShownWhole = false,
    ...operation
  } = declaration;
  const isAct = isOwnAct || (!isReading(operation.access) && unrecorded !== 'all');
  const hidden = unrecorded === 'all' ? [] : unrecorded;
  return {
    ...(operation.input.shape.body === undefined ? {} : { readBody: adminBody }),
    ...operation,
    tag: 'Operators',
    authentication: 'admin',
    act: isAct ? kind : 'none',
    async run(request, identity) {
      if (identity.kind !== 'admin')
        throw new TypeError(`${operation.operationId} needs an operator's token`);
      refuseUnknownFields(operation.input, request);
      const input = parseInput(operation.input, request);
      const { keep, kind: _kind, ...operating } = identity;
      const showsAmounts =
        isShownWhole || operation.access === 'configuration' || mayUse(operating, 'amounts');
      const handled = async (note: NoteChanges = () => undefined) =>
        handle({ ...input, meta: request.meta, ...operating, note });
      const act = isAct ? operatorActOf(operation.operationId, input, hidden) : undefined;
      // Record the response before its amounts are hidden, because the audit log shows them to operators with
      // permission.
      const recorded = act === undefined ? () => handled() : () => keep(act, handled);
      const reply = await (showsAmounts ? recorded() : hideAmounts(recorded));
      return operation.method === 'get' && act === undefined ? withVersion(reply, request.meta) : reply;
    },
  };
}

function withVersion(reply: Reply, meta: RequestMeta): Reply {
  const { status, headers, body } = reply;
  if (status !== 200 || typeof body !== 'string') return reply;
  const versioned = { ...headers, etag: etagOf(body), 'cache-control': 'private, no-cache' };
  return matchesEtag(meta.header('if-none-match'), versioned.etag)
    ? notModified(versioned)
    : { ...reply, headers: versioned };
}

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

/**
 * Creates a route whose URL is itself a secret. `admit` finds the owner before the body is read. Throws GatewayError.
 */
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
    run: () => Promise.reject(new TypeError(`${operation.operationId} must be called through admit`)),
  };
}
