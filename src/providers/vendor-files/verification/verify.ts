import type { VendorFile } from '../../../models/vendor-file.ts';
import { withTypedAnswers } from '../../typed-answers.ts';
import { ExpressionError, type Expressions } from '../expressions.ts';
import { fileProvider } from '../file-provider.ts';
import { conformanceTests } from './conformance.ts';
import { fixtureTests } from './fixture-tests.ts';

export interface VerificationRow {
  readonly test: string;
  readonly failure?: string;
}

export interface VerificationTest {
  readonly test: string;
  readonly run: () => Promise<string | undefined>;
}

/**
 * A vendor file must pass all of these tests before it is used. Its expressions must compile, its fixtures must replay,
 * and it must keep the guarantees of every adapter. A test double plays the role of the vendor, with the responses in
 * the fixtures.
 */
export async function verifyVendorFile(
  file: VendorFile,
  expressions: Expressions,
): Promise<VerificationRow[]> {
  const compiled = await runAll(expressionTests(file, expressions));
  if (compiled.some(({ failure }) => failure !== undefined)) return compiled;
  const provider = withTypedAnswers(fileProvider(file, { expressions, now: () => Date.now() }));
  const fixtures = await runAll(fixtureTests(file, provider));
  if (fixtures.some(({ failure }) => failure !== undefined)) return [...compiled, ...fixtures];
  return [...compiled, ...fixtures, ...(await runAll(conformanceTests(file, provider)))];
}

export async function vendorFileViolations(file: VendorFile, expressions: Expressions): Promise<string[]> {
  const failed = (await verifyVendorFile(file, expressions)).filter(({ failure }) => failure !== undefined);
  const [first] = failed;
  if (first === undefined) return [];
  const more = failed.length === 1 ? '' : ` (and ${failed.length - 1} more)`;
  return [
    `vendors.${file.name}: "${first.test}" fails: ${first.failure ?? ''}${more}. Run \`gateway vendors test FILE\`, and correct the file.`,
  ];
}

async function runAll(tests: readonly VerificationTest[]): Promise<VerificationRow[]> {
  const rows: VerificationRow[] = [];
  for (const { test, run } of tests) {
    // oxlint-disable-next-line no-await-in-loop -- one thread evaluates all of them
    const failure = await run();
    rows.push(failure === undefined ? { test } : { test, failure });
  }
  return rows;
}

function expressionTests(file: VendorFile, expressions: Expressions): VerificationTest[] {
  return expressionsOf(file).map(([name, source]) => ({
    test: `expression ${name}`,
    run: async () => {
      try {
        await expressions.check(source);
        return undefined;
      } catch (error) {
        if (error instanceof ExpressionError) return error.reason;
        throw error;
      }
    },
  }));
}

function expressionsOf({ error, balance, videos, images }: VendorFile): (readonly [string, string])[] {
  return [
    ['error', error],
    ...Object.entries({ balance, videos, images }).flatMap(([name, part]) => partsOf(name, part)),
  ];
}

const expressionKeys = new Set(['request', 'accepted', 'answer']);

function partsOf(path: string, value: unknown): (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
    expressionKeys.has(name) && typeof each === 'string'
      ? [[`${path}.${name}`, each] as const]
      : name === 'facts'
        ? []
        : partsOf(`${path}.${name}`, each),
  );
}
