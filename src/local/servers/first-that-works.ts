import { LocalServerError, type LocalOptions } from './local-options.ts';

export type Attempt<Program> = { readonly program: Program } | { readonly failure: string };

export interface Source<Program> {
  readonly title: string;
  /** Set if the attempt may take a while. If it fails, the failure is then reported immediately. */
  readonly slow?: true;
  readonly attempt: (options: LocalOptions) => Promise<Attempt<Program>>;
}

export interface Wanted<Program> {
  readonly server: string;
  readonly advice: string;
  readonly sources: readonly Source<Program>[];
}

/** Throws a LocalServerError that lists why each source failed, followed by `advice`. */
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
