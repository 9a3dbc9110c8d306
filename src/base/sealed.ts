/** What is sealed: no two purposes share key material, so nothing that is sealed fits another place. */
export type SealPurpose =
  | 'webhook-secret'
  | 'alert-address'
  | 'request'
  | 'upstream-words'
  | 'root-key'
  | 'configuration';

/** A text as it is stored: encrypted, with the id of the key that opens it. */
export interface Sealed {
  readonly keyId: string;
  readonly data: Uint8Array;
}
