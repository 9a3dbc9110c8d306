import type { MediaFacts } from '../models/media-facts.ts';

/** What passes between a process and the thread that reads media for it. One medium at a time. */

export type ToThread =
  | { readonly kind: 'probe'; readonly bytes: number }
  /** `data` absent: it could not be read. */
  | { readonly kind: 'data'; readonly read: number; readonly data?: Uint8Array };

export type FromThread =
  /** The first message: the thread has loaded its code. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly read: number; readonly start: number; readonly end: number }
  /** `facts` absent: nothing is known of it. */
  | { readonly kind: 'done'; readonly facts?: MediaFacts };
