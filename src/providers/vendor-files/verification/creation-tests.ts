import { isRecord } from '../../../base/is-record.ts';
import type { Conformance } from './conformance.ts';
import { createDouble, shown, testKey, testMarker, type DoubleAnswer, type SentRequest } from './double.ts';
import { runStep, type Outcome } from './run-step.ts';
import { withTexts, type RecordedAnswer, type Specimen } from './specimens.ts';
import type { VerificationTest } from './verify.ts';
import { isPlain, isToken } from '../../../base/plain-text.ts';

export function creationTests(given: Conformance): VerificationTest[] {
  const { accepted, refused } = given.specimens;
  if (accepted === undefined || refused === undefined) return [];
  const create = (answer: DoubleAnswer) => tryAnswer(given, accepted, answer);
  return [
    ...unclear(accepted).map(([name, answer]) => ({
      test: `at most once: ${name} is ambiguous, and one request is sent`,
      run: async () => expectError(await create(answer), { outcome: 'ambiguous' }),
    })),
    {
      test: 'a request that was never sent is reported as not sent',
      run: async () => expectError(await create('not_sent'), { outcome: 'not_sent' }),
    },
    ...clear(refused).map(([name, answer, expected]) => ({
      test: `${name} is a refusal`,
      run: async () => expectError(await create(answer), expected),
    })),
    {
      test: 'words: a refusal is one line, and its code is a token',
      run: () => hostileRefusal(given, refused),
    },
    { test: 'words: an id that cannot be polled is ambiguous', run: () => hostileId(given, accepted) },
    {
      test: 'the request carries the key, and only where the file says',
      run: () => keyPlace(given, accepted),
    },
    ...markerTest(given, accepted),
  ];
}

interface Tried {
  readonly outcome: Outcome;
  readonly sent: readonly SentRequest[];
}

async function tryAnswer(
  { file, provider }: Conformance,
  { request, step, fixture }: Specimen,
  answer: DoubleAnswer,
): Promise<Tried> {
  const { authentication } = file;
  const { context, sent } = createDouble({ model: fixture.model, authentication, answers: [answer] });
  const outcome = await runStep(step.do, { provider, request, context, operation: { id: 'fixture' } });
  return { outcome, sent };
}

const page = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>It works</html>' };

function unclear({ answers }: Specimen): readonly (readonly [string, DoubleAnswer])[] {
  const [accepted] = answers;
  const withStatus = (status: number): DoubleAnswer => ({ ...(accepted ?? page), status });
  return [
    ['a lost response', 'lost'],
    ['an empty response', { status: 200, headers: {}, text: '' }],
    ['a page', page],
    ['an empty object', { status: 200, headers: {}, json: {} }],
    ['a list', { status: 200, headers: {}, json: [] }],
    ['a deep response', { status: 200, headers: {}, json: deep() }],
    ...[408, 500, 502, 504].map((status) => [`a page with status ${status}`, { ...page, status }] as const),
    ['a success response with status 500', withStatus(500)],
    ['a page with status 503', { ...page, status: 503 }],
  ];
}

function deep(): unknown {
  let value: unknown = 'x';
  for (let depth = 0; depth < 2_000; depth += 1) value = { a: value };
  return value;
}

type Expected = Readonly<Record<string, unknown>>;

function clear({ answers }: Specimen): readonly (readonly [string, DoubleAnswer, Expected])[] {
  const refusal = withTexts(answers, () => 'other');
  const [first = page] = refusal;
  return [
    [
      'status 429',
      { ...first, status: 429, headers: { 'retry-after': '7' } },
      { outcome: 'throttled', class: 'capacity', retry_after_ms: 7_000 },
    ],
    ['status 401', { ...first, status: 401 }, { outcome: 'unavailable', class: 'quota' }],
    ['status 402', { ...first, status: 402 }, { outcome: 'unavailable', class: 'quota' }],
  ];
}

function expectError({ outcome, sent }: Tried, expected: Expected): string | undefined {
  const { error } = outcome;
  if (!isRecord(error)) return `it is treated as a success: ${shown(outcome)}`;
  const wrong = Object.entries(expected).find(([name, value]) => error[name] !== value);
  if (wrong !== undefined) return `${wrong[0]} is ${shown(error[wrong[0]])}, and must be ${shown(wrong[1])}`;
  return sent.length === 1 ? undefined : `it sent ${sent.length} requests`;
}

export const hostile = `\u001b[2J\u202e evil\nsecond line ${'x'.repeat(5_000)}`;

async function hostileRefusal(given: Conformance, refused: Specimen): Promise<string | undefined> {
  const [answer = page] = withTexts(refused.answers, () => hostile);
  const { outcome } = await tryAnswer(given, refused, answer);
  return isRecord(outcome['error']) ? wordsIssue(outcome['error']) : 'it is treated as a success';
}

export function wordsIssue({ code, message }: Expected): string | undefined {
  if (typeof code !== 'string' || !isToken(code, 256)) return `its code is ${shown(code)}`;
  return typeof message === 'string' && isPlain(message) ? undefined : 'its message cannot be shown';
}

async function hostileId(given: Conformance, accepted: Specimen): Promise<string | undefined> {
  if (accepted.step.do === 'generate') return undefined;
  const [answer = page] = withTexts(accepted.answers, () => hostile);
  return expectError(await tryAnswer(given, accepted, answer), { outcome: 'ambiguous' });
}

async function keyPlace(given: Conformance, accepted: Specimen): Promise<string | undefined> {
  const [answer = page] = accepted.answers;
  const { outcome, sent } = await tryAnswer(given, accepted, answer);
  const [first] = sent;
  if (first === undefined) return 'nothing is sent';
  const { authentication } = given.file;
  const [id = ''] = testKey.split(':');
  const isQuery = 'query' in authentication;
  const place = isQuery ? decodeURIComponent(first.url) : JSON.stringify(first.headers);
  const isSigned = 'hmac' in authentication || 'jwt' in authentication;
  if (!isSigned && !place.includes(testKey)) return 'the key is not in the request';
  const elsewhere = JSON.stringify([first.json, first.form, isQuery ? '' : first.path, outcome]);
  return elsewhere.includes(id) ? 'the key is also in the body, the path or the stored job' : undefined;
}

function markerTest(given: Conformance, accepted: Specimen): VerificationTest[] {
  const jobs = given.kind === 'video' ? given.file.videos : given.file.images;
  if (jobs === undefined || !('find' in jobs) || jobs.find === undefined) return [];
  const [answer]: readonly RecordedAnswer[] = accepted.answers;
  return [
    {
      test: 'markers: the job is sent with its marker',
      run: async () => {
        const { sent } = await tryAnswer(given, accepted, answer ?? page);
        return JSON.stringify(sent).includes(testMarker) ? undefined : 'the marker is not in the request';
      },
    },
  ];
}
