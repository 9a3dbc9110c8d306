export interface ConfigChange {
  /** Such as `models.clip.price.unit`. Entries of lists appear by id rather than index. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Truncated JSON. Undefined if there was no value, if it is a whole entry, or if it may be a secret. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}
