import type { MediaFacts } from '../models/media-facts.ts';

export type ToThread =
  | { readonly kind: 'probe'; readonly bytes: number }
  | { readonly kind: 'data'; readonly read: number; readonly data?: Uint8Array };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly read: number; readonly start: number; readonly end: number }
  | { readonly kind: 'done'; readonly facts?: MediaFacts };
