import { isRecord } from '../../../base/is-record.ts';
import type { VendorFile } from '../../../models/vendor-file.ts';
import type { Conformance } from './conformance.ts';
import { hostile, wordsIssue } from './creation-tests.ts';
import { createDouble, shown, type DoubleAnswer } from './double.ts';
import { runStep, type Outcome } from './run-step.ts';
import { withTexts, type RecordedAnswer, type Specimen } from './specimens.ts';
import type { VerificationTest } from './verify.ts';

export function statusTests(given: Conformance): VerificationTest[] {
  const { pending, succeeded, failed, find } = given.specimens;
  const states = statesOf(given.file, given.kind);
  if (pending === undefined || succeeded === undefined || failed === undefined || states === undefined)
    return [];
  const ask = (specimen: Specimen, answers: readonly DoubleAnswer[]) => askWith(given, specimen, answers);
  const isState = (text: string): boolean => Object.hasOwn(states, text);
  const unknown = withTexts(pending.answers, (text) => (isState(text) ? 'A_WORD_NOBODY_KNOWS' : text));
  const isLink = (text: string): boolean => /^(?:https?:|data:)/.test(text);
  const bare = withTexts(succeeded.answers, (text) => (isLink(text) ? undefined : text));
  // A vendor whose responses contain no links serves the file at a URL derived from the job.
  const hasLinks = JSON.stringify(bare) !== JSON.stringify(succeeded.answers);
  const rude = withTexts(failed.answers, (text) => (isState(text) ? text : hostile));
  const page = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>It works</html>' };
  return [
    {
      test: 'an unknown state is pending',
      run: async () => expectState(await ask(pending, unknown), 'pending'),
    },
    ...(hasLinks
      ? [
          {
            test: 'a success without a file is treated as unreadable',
            run: async () => expectOutcome(await ask(succeeded, bare), { outcome: 'ambiguous', gone: false }),
          },
        ]
      : []),
    {
      test: 'words: a failure is one line, and its code is a token',
      run: async () => {
        const outcome = await ask(failed, rude);
        const said = isRecord(outcome['error']) ? outcome['error'] : outcome;
        return wordsIssue(said);
      },
    },
    ...[200, 404, 410, 500, 502, 503].map((status) => ({
      test: `a page with status ${status} does not end a job`,
      run: async () => expectOutcome(await ask(pending, [{ ...page, status }]), { gone: false }),
    })),
    {
      test: 'a lost response does not end a job',
      run: async () => expectOutcome(await ask(pending, ['lost']), { gone: false }),
    },
    ...(find === undefined ? [] : [foreignMarker(given, find)]),
  ];
}

function statesOf({ videos, images }: VendorFile, kind: Conformance['kind']) {
  const jobs = kind === 'video' ? videos : images;
  return jobs !== undefined && 'status' in jobs ? jobs.status.states : undefined;
}

async function askWith(
  { file, provider }: Conformance,
  { fixture, request, step }: Specimen,
  answers: readonly DoubleAnswer[],
): Promise<Outcome> {
  const { context } = createDouble({ model: fixture.model, authentication: file.authentication, answers });
  return runStep(step.do, { provider, request, context, operation: operationOf(fixture) });
}

/** Paths can contain any part of the operation, not just `id`. */
function operationOf({ steps }: Specimen['fixture']) {
  const created = steps.find((step) => step.do === 'submit')?.expect ?? {};
  const parts = Object.entries(created).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return { id: 'fixture', ...Object.fromEntries(parts) };
}

function expectState({ state, error }: Outcome, expected: string): string | undefined {
  return state === expected ? undefined : `it is ${shown(state ?? error)}, but must be ${expected}`;
}

function expectOutcome(
  { error, state }: Outcome,
  expected: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!isRecord(error)) return `it is read as the state ${shown(state)}`;
  const wrong = Object.entries(expected).find(([name, value]) => error[name] !== value);
  return wrong === undefined
    ? undefined
    : `${wrong[0]} is ${shown(error[wrong[0]])}, and must be ${shown(wrong[1])}`;
}

function foreignMarker(given: Conformance, find: Specimen): VerificationTest {
  const foreign: readonly RecordedAnswer[] = withTexts(find.answers, (text) =>
    text.replace('mediary-fixture-1', 'mediary-fixture-2'),
  );
  return {
    test: 'markers: the job of another task is not found',
    run: async () => {
      const { ids } = await askWith(given, find, foreign);
      return Array.isArray(ids) && ids.length === 0 ? undefined : `it finds ${shown(ids)}`;
    },
  };
}
