/** A place where two configurations differ. */
export interface ConfigChange {
  /** A path such as `models.clip.price.unit`. List entries appear by id rather than index. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The old value as truncated JSON. Undefined if there was none, if it is a whole entry, or if it may be a secret. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}
