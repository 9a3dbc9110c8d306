import { LocalServerError, type LocalOptions, type Report } from './local-options.ts';

/** One way to come by a server's program. */
export interface Source<Program> {
  readonly title: string;
  /** Worth a line when it fails: it was waited for. */
  readonly slow: boolean;
  readonly attempt: () => Promise<Attempt<Program>>;
}

export type Attempt<Program> = { readonly program: Program } | { readonly failure: string };

/** Where a server's program may come from, in the order in which that is tried. */
export type Sources<Name extends string, Program> = readonly {
  readonly name: Name;
  readonly title: string;
  readonly slow?: true;
  readonly attempt: (options: LocalOptions) => Promise<Attempt<Program>>;
}[];

export interface Wanted {
  readonly server: string;
  /** What would help somebody for whom no source works. */
  readonly advice: string;
}

/** The program of the first source that works; `only` forces one source. Throws as `firstThatWorks` does. */
export function resolveProgram<Name extends string, Program>(
  { server, advice }: Wanted,
  sources: Sources<Name, Program>,
  options: LocalOptions & { readonly only?: Name },
): Promise<Program> {
  const { only, report } = options;
  const tried = sources
    .filter(({ name }) => only === undefined || name === only)
    .map(({ title, slow = false, attempt }) => ({ title, slow, attempt: () => attempt(options) }));
  return firstThatWorks(server, tried, { report, advice });
}

/**
 * Tries one source after the other, each only if the one before has failed. Throws a LocalServerError that lists what
 * was tried, with `advice` below it.
 */
export async function firstThatWorks<Program>(
  server: string,
  sources: readonly Source<Program>[],
  { report, advice }: { report: Report; advice: string },
): Promise<Program> {
  const failures: string[] = [];
  for (const [index, { title, slow, attempt }] of sources.entries()) {
    const outcome = await attempt();
    if ('program' in outcome) return outcome.program;
    failures.push(`${title}: ${outcome.failure}`);
    const next = sources[index + 1];
    if (slow && next !== undefined) report(`${server}: ${title}: ${outcome.failure}. Next: ${next.title}.`);
  }
  throw new LocalServerError(
    [`No ${server} server: tried`, ...failures.map((failure) => `  - ${failure}`), advice].join('\n'),
  );
}
