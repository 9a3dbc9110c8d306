import { namesOf } from './names-of.ts';

export const sealedFields = {
  'root-key': { collection: 'secrets', field: 'sealed' },
  configuration: { collection: 'configuration', field: 'sealed' },
  'replaced-configuration': { collection: 'replaced_configurations', field: 'sealed' },
  draft: { collection: 'configuration_drafts', field: 'sealed' },
  'configured-secret': { collection: 'configured_secrets', field: 'sealed' },
  'webhook-secret': { collection: 'accounts', field: 'webhookSecrets' },
  'alert-address': { collection: 'account_alerts', field: 'sealed' },
  request: { collection: 'requests', field: 'sealed' },
  prompt: { collection: 'requests', field: 'prompt' },
  'upstream-words': { collection: 'tasks', field: 'words', parts: true },
  'result-links': { collection: 'tasks', field: 'links', parts: true },
  'file-name': { collection: 'files', field: 'filename' },
  'upload-link': { collection: 'file_uploads', field: 'url' },
  'partial-image': { collection: 'partial_images', field: 'sealed' },
  answer: { collection: 'image_result_bodies', field: 'sealed' },
} as const;

export type SealPurpose = keyof typeof sealedFields;

export const sealPurposes = namesOf(sealedFields);

/** A value can be opened only at the place for which it was sealed. */
export interface SealedAt {
  readonly purpose: SealPurpose;
  readonly id: string;
  /** Set if the field contains several values. */
  readonly part?: string;
}

export interface Sealed {
  readonly keyId: string;
  readonly data: Uint8Array;
}
