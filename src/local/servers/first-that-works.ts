import { LocalServerError, type LocalOptions } from './local-options.ts';

export type Attempt<Program> = { readonly program: Program } | { readonly failure: string };

/** One way to come by a server's program. */
export interface Source<Program> {
  readonly title: string;
  /** Worth a line when it fails: it was waited for. */
  readonly slow?: true;
  readonly attempt: (options: LocalOptions) => Promise<Attempt<Program>>;
}

export interface Wanted<Program> {
  readonly server: string;
  /** What would help somebody for whom no source works. */
  readonly advice: string;
  readonly sources: readonly Source<Program>[];
}

/**
 * Tries one source after the other, each only if the one before has failed. Throws a LocalServerError that lists what
 * was tried, with `advice` below it.
 */
export async function firstThatWorks<Program>(
  { server, advice, sources }: Wanted<Program>,
  options: LocalOptions,
): Promise<Program> {
  const failures: string[] = [];
  for (const [index, { title, slow, attempt }] of sources.entries()) {
    const outcome = await attempt(options);
    if ('program' in outcome) return outcome.program;
    const failure = `${title}: ${outcome.failure}`;
    failures.push(`  - ${failure}`);
    const next = sources[index + 1];
    if (slow === true && next !== undefined) options.report(`${server}: ${failure}. Next: ${next.title}.`);
  }
  throw new LocalServerError([`No ${server} server: tried`, ...failures, advice].join('\n'));
}
