import { expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import type { FieldMapping } from '../../src/models/field-mapping.ts';
import type { ImageRequest, VideoRequest } from '../../src/models/request.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { HttpRequestOptions, ImageTaskProvider, Operation } from '../../src/providers/provider.ts';
import type { PossibleOutput, RequestIssue, SubmitContext } from '../../src/providers/provider.ts';
import type { SynchronousImageProvider, TaskProvider, VideoProvider } from '../../src/providers/provider.ts';
import { callback, canned, imageIssue, imageRequest, providerContext, submitContext } from './support.ts';
import { upstreamError, videoIssue, videoOutput, videoRequest } from './support.ts';
import type { CannedAnswer } from './support.ts';

/** Each row becomes a test of what a vendor receives or returns. */

interface Usual {
  readonly model?: string;
  readonly created?: CannedAnswer | ((model: string) => CannedAnswer);
  readonly operation?: Operation;
  readonly mapping?: FieldMapping;
  readonly context?: Partial<SubmitContext>;
}

type Row<Asked, Expected> =
  | readonly [what: string, asked: Partial<Asked>, expected: Expected]
  | readonly [what: string, asked: Partial<Asked>, model: string, expected: Expected];
type BodyRow<Asked> =
  | Row<Asked, object>
  | readonly [what: string, asked: Partial<Asked>, model: string, path: string, body: object];
type Answers = CannedAnswer | readonly CannedAnswer[];
type NoStateRow =
  | readonly [what: string, answers: Answers, isGone: boolean, code: string]
  | readonly [what: string, answers: Answers, operation: Operation, isGone: boolean, code: string];

type CancelRow = readonly [what: string, answers: Answers, expected: string, operation?: Operation];

interface Part<Asked> {
  readonly request: (over: Partial<Asked>) => Asked;
  readonly issue: (request: Asked, model: string) => RequestIssue | undefined;
  readonly create: (request: Asked, context: SubmitContext) => Promise<unknown> | undefined;
  readonly jobs?: Omit<TaskProvider<Asked>, 'submit' | 'find'> | undefined;
}

export function videoTables(video: VideoProvider | undefined, usual: Usual = {}) {
  const { model = '', mapping } = usual;
  const tables = tablesOf<VideoRequest>(usual, {
    request: videoRequest,
    issue: (request, upstream) => videoIssue(video, request, upstream, mapping),
    create: (request, context) => video?.submit(request, context),
    jobs: video,
  });
  return {
    ...tables,
    renders(rows: readonly Row<VideoRequest, PossibleOutput>[]) {
      it.each(rows.map((row) => caseOf(row, model)))(
        'renders $what',
        ({ asked, model: upstream, expected }) => {
          expect(videoOutput(video, videoRequest(asked), upstream, mapping)).toEqual(expected);
        },
      );
    },
  };
}

export function imageTables(
  part: ImageTaskProvider | SynchronousImageProvider | undefined,
  usual: Usual = {},
) {
  const jobs = part !== undefined && 'submit' in part ? part : undefined;
  const made = part !== undefined && 'generate' in part ? part : undefined;
  return tablesOf<ImageRequest>(usual, {
    request: imageRequest,
    issue: (request, model) => imageIssue(part, request, model, usual.mapping),
    create: (request, context) => jobs?.submit(request, context) ?? made?.generate(request, context),
    jobs,
  });
}

function caseOf<Asked, Expected>(row: Row<Asked, Expected>, usualModel: string) {
  const [what, asked] = row;
  return row.length === 4
    ? { what, asked, model: row[2], expected: row[3] }
    : { what, asked, model: usualModel, expected: row[2] };
}

function tablesOf<Asked>(usual: Usual, part: Part<Asked>) {
  const calls = callsOf(usual, part);
  return { ...calls, ...requestTables(usual, part, calls), ...answerTables(usual, part, calls) };
}

type Calls<Asked> = ReturnType<typeof callsOf<Asked>>;

function callsOf<Asked>(usual: Usual, { request, create, jobs }: Part<Asked>) {
  const { model: usualModel = '', created = {}, operation = { id: '' }, mapping } = usual;
  const contextOf = (answers: readonly CannedAnswer[], over: Partial<SubmitContext> = {}) => {
    const upstream = canned(...answers);
    const context = { ...defined({ mapping }), ...usual.context, ...over, request: upstream.request };
    return { context: submitContext(context), sent: upstream.sent };
  };
  const polled = async (answers: Answers, asked = operation, over: Partial<SubmitContext> = {}) => {
    const { context, sent } = contextOf([answers].flat(), over);
    return { status: await jobs?.status(asked, context), sent };
  };
  const statusOf = async (answers: Answers, asked = operation) => (await polled(answers, asked)).status;
  const refusalOf = async (answer: CannedAnswer) => {
    const { context } = contextOf([answer], { model: usualModel });
    return upstreamError(Promise.resolve(create(request({}), context)));
  };

  async function sentFor(asked: Partial<Asked>, model = usualModel, over: Partial<SubmitContext> = {}) {
    const answer = typeof created === 'function' ? created(model) : created;
    const { context, sent } = contextOf([answer], { model, ...over });
    const submitted = await create(request(asked), context);
    const [first] = sent;
    return { submitted, sent: first, path: first?.url.replace(context.baseUrl, ''), json: first?.json };
  }
  return { contextOf, polled, statusOf, sentFor, refusalOf };
}

function requestTables<Asked>(usual: Usual, { request, issue }: Part<Asked>, { sentFor }: Calls<Asked>) {
  const { model: usualModel = '' } = usual;
  return {
    /** Every body must also contain the fields of `common`. Every path starts with `root`. */
    sends(rows: readonly BodyRow<Asked>[], common: (model: string) => object, root = '') {
      const cases = rows.map((row) =>
        row.length === 5
          ? { ...caseOf([row[0], row[1], row[2], row[4]], ''), path: root + row[3] }
          : { ...caseOf(row, usualModel), path: undefined },
      );
      it.each(cases)('sends $what', async ({ asked, model, path, expected }) => {
        expect(issue(request(asked), model)).toBeUndefined();
        const sent = await sentFor(asked, model);
        expect(sent.path).toBe(path ?? sent.path);
        expect(sent.json).toEqual({ ...common(model), ...expected });
      });
    },
    checks(rows: readonly Row<Asked, string | undefined>[]) {
      it.each(rows.map((row) => caseOf(row, usualModel)))('checks $what', ({ asked, model, expected }) => {
        expect(issue(request(asked), model)?.param).toBe(expected);
      });
    },
  };
}

function answerTables<Asked>(usual: Usual, { jobs }: Part<Asked>, calls: Calls<Asked>) {
  const { operation = { id: '' } } = usual;
  const { contextOf, statusOf, refusalOf } = calls;
  return {
    reads(rows: readonly (readonly [what: string, answers: Answers, status: object])[]) {
      it.each(rows)('reads a job %s', async (_, answers, status) => {
        expect(await statusOf(answers)).toEqual(status);
      });
    },
    readsPart(rows: readonly (readonly [what: string, answers: Answers, status: object])[]) {
      it.each(rows)('reads a job %s', async (_, answers, status) => {
        expect(await statusOf(answers)).toMatchObject(status);
      });
    },
    readsNoState(rows: readonly NoStateRow[]) {
      const cases = rows.map((row) => {
        const [what, answers] = row;
        return row.length === 5
          ? { what, answers, asked: row[2], expected: [row[3], row[4]] }
          : { what, answers, asked: operation, expected: [row[2], row[3]] };
      });
      it.each(cases)('reads no state: $what', async ({ answers, asked, expected }) => {
        const error = await upstreamError(statusOf(answers, asked));
        expect([error.gone, error.code]).toEqual(expected);
      });
    },
    isRefused(
      rows: readonly (readonly [what: string, answer: CannedAnswer, outcome: string, reason: string])[],
    ) {
      it.each(rows)('is refused: %s', async (_, answer, outcome, reason) => {
        const { outcome: found, code, failure } = await refusalOf(answer);
        expect([found, failure.class === reason ? failure.class : code]).toEqual([outcome, reason]);
      });
    },
    cancels(
      rows: readonly CancelRow[],
      sends: (sent: readonly HttpRequestOptions[]) => void = () => undefined,
    ) {
      const cases = rows.map(([what, answers, expected, asked = operation]) => ({
        what,
        answers,
        expected,
        asked,
      }));
      it.each(cases)('cancels $what', async ({ answers, expected, asked }) => {
        const { context, sent } = contextOf([answers].flat());
        const result = await jobs?.cancel?.(asked, context).catch((error: unknown) => {
          if (error instanceof UpstreamError) return error.gone ? 'gone' : error.outcome;
          throw error;
        });
        expect(result).toBe(expected);
        sends(sent);
      });
    },
    verifies(
      { body, now }: { readonly body: unknown; readonly now: number },
      rows: readonly (readonly [
        what: string,
        headers: Readonly<Record<string, string>>,
        callbackSecret: string | undefined,
        isGenuine: boolean,
      ])[],
    ) {
      it.each(rows)('verifies a callback %s', async (_, headers, callbackSecret, isGenuine) => {
        const credential = { id: 'a', apiKey: 'k', ...defined({ callbackSecret }) };
        const context = { ...providerContext({ credential }), now };
        expect(await jobs?.verifyCallback?.(callback(body, headers), context)).toBe(isGenuine);
      });
    },
    hears(rows: readonly (readonly [body: unknown, isEnded: boolean])[]) {
      it.each(rows)('hears %j: ended is %s', (body, ended) => {
        expect(jobs?.parseCallback?.(callback(body))).toEqual({ ended });
      });
    },
  };
}
