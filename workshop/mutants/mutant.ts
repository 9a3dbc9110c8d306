/** One promise taken out of the code, and the tests that must notice. Paths from the repository's root. */
export interface Mutant {
  /** In kebab-case; what `--only` names. */
  readonly name: string;
  /** What no longer holds with this change. */
  readonly breaks: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Only these files are run; one of their tests must fail. */
  readonly tests: readonly string[];
}
