import type { MediaFacts } from '../models/media-facts.ts';

/** Messages between a process and its media-reading thread, which handles one file at a time. */

export type ToThread =
  | { readonly kind: 'probe'; readonly bytes: number }
  /** `data` is absent if the bytes were unreadable. */
  | { readonly kind: 'data'; readonly read: number; readonly data?: Uint8Array };

export type FromThread =
  /** The first message, sent once the thread's code has been loaded. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly read: number; readonly start: number; readonly end: number }
  /** `facts` is absent if nothing is known about the file. */
  | { readonly kind: 'done'; readonly facts?: MediaFacts };
