/** One place where two configurations differ. */
export interface ConfigChange {
  /** `models.clip.price.unit`: entries of lists are named by their ids. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** JSON, cut. Undefined: absent, a whole entry, or what may be a secret. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}
